// The run as a whole: notices, figures, tables, settings.

let stats = null;

// Draw what is known of the run as a whole: of a report once, of a view whenever it has changed.
function drawSummary(facts) {
  Object.assign(meta, facts);
  stats = meta.statistics;
  const unfolded = new Set([...document.querySelectorAll("#details details[open] > summary")].map((e) => e.textContent));
  for (const name of ["head", "notices", "tiles", "details"]) byId(name).replaceChildren();
  drawHead();
  drawNotices();
  drawTiles();
  drawPlots();
  drawDetails();
  for (const part of document.querySelectorAll("#details details")) part.open = unfolded.has(part.firstChild.textContent);
}

function drawHead() {
  const solved = stats.verdicts.solutions.AC || 0;
  const when = meta.run.timestamp;
  byId("head").append(
    h("h1", {}, visible(meta.name)),
    h("p", { class: "dim" },
      `${plural(stats.solutions, "solution")}, ${count(stats.counted)} graded on ${plural(stats.problems, "problem")}, ${count(solved)} passed`,
      when && " · ", when && visible(when)));
}

function drawNotices() {
  const { statuses, verdicts } = stats;
  const lines = [
    [statuses.error, "bad", (n) => `Not counted: ${plural(n, "solution")} that ended in infrastructure errors. Run the same command again to grade only those.`],
    [statuses.error ? 0 : verdicts.cases.ER, "bad", (n) => `In ${plural(n, "case")} of failed solutions the machine failed. Run the same command again to grade those solutions anew.`],
    [statuses.invalid, "bad", (n) => `Not counted: ${plural(n, "unusable line")} of the solutions file (unreadable, unknown problem or unknown language).`],
    [verdicts.cases.CU, "warn", (n) => `In ${plural(n, "case")} the checker gave no verdict: it crashed, hung or printed no score. These solutions count as failed. Read the checker's output before you rely on that.`],
    [statuses.no_tests, "warn", (n) => `Not counted: ${plural(n, "solution")} without a test to be judged by.`],
    [statuses.unsupported, "warn", (n) => `Not counted: ${plural(n, "solution")} of interactive problems without an interactor.`],
    [Object.keys(meta.run).length ? 0 : 1, "warn", () => "The metrics file is missing: the run is unfinished or was interrupted."],
    [meta.damaged, "bad", (n) => `${plural(n, "line")} of the records can't be read. The first: ${visibleString(meta.why)}`],
    ...stats.pass_at_k.map((row) => [row.undefined, "warn", () => `pass@${row.k} is ${row.note}.`]),
  ];
  for (const [n, kind, text] of lines) {
    if (n) byId("notices").append(h("p", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, text(n)));
  }
}

function tile(name, value, more) {
  return h("div", { class: "card tile" }, h("div", { class: "name" }, name),
    h("div", { class: "value" }, value), h("div", { class: "more" }, more));
}

function drawTiles() {
  const share = (value) => (value === null ? "–" : percent(value));
  const ends = (interval) => (interval ? endsText(interval) : "no interval");
  const tiles = stats.pass_at_k.map((row) =>
    tile(`pass@${row.k}`, share(row.value), row.value === null ? "undefined" : ends(row.interval)));
  if (stats.score_mean.value !== null && stats.score_mean.value !== stats.pass_at_k[0].value) {
    tiles.push(tile("mean score", share(stats.score_mean.value), ends(stats.score_mean.interval)));
  }
  for (const row of stats.time_limits) {
    if (row.factor === 1 || row.pass_at_1 === null) continue;
    tiles.push(tile(`pass@1 at ${row.factor} × time`, share(row.pass_at_1),
      row.undecided ? `${count(row.undecided)} undecided` : ends(row.interval)));
  }
  const rating = stats.estimated_rating;
  if (rating) {
    const range = `${Math.round(rating.low)} – ${Math.round(rating.high)}${rating.prior ? ", with prior" : ""}`;
    const box = tile("estimated rating", String(Math.round(rating.rating)), range);
    box.title = `${rating.note}; ${rating.problems} problems, standard error ${Math.round(rating.standard_error)}`;
    tiles.push(box);
  }
  byId("tiles").append(...tiles);
}

function countTable(title, values) {
  return h("div", {}, h("h3", {}, title), h("table", { class: "plain" }, h("tbody", {},
    Object.entries(values).map(([name, n]) => h("tr", {}, h("td", {}, visible(name.replaceAll("_", " "))), h("td", { class: "num" }, count(n)))))));
}

function collapsible(title, ...content) {
  return h("details", { class: "card" }, h("summary", {}, title), h("div", {}, content));
}

function drawDetails() {
  const titles = { checker: "By checker", official_tests: "By official tests", difficulty: "By difficulty" }; // the plots have others
  const { tables, verdicts } = stats;
  byId("details").append(
    collapsible("Tables", h("div", { class: "tables" },
      Object.entries(titles).filter(([name]) => tables[name]?.length).map(([name, title]) => h("div", {}, h("h3", {}, title), shareFigures(tables[name]))))),
    collapsible("Counts", h("div", { class: "tables" },
      countTable("Solutions by status", stats.statuses), countTable("Cases by verdict", verdicts.cases),
      countTable("Cases by reason", verdicts.reasons))),
    collapsible("How it was run", Object.entries(meta.run).map(([name, value]) => [
      h("h3", {}, visible(name)), value && typeof value === "object" ? factList(value) : h("p", {}, visible(value))])));
}
