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

// The plots: pass@k, pass@1 by group, verdicts, shares of limits. They follow the filters, each
// but its own, and pass@k but those of an outcome. Unfiltered figures are those of the summary, with
// intervals.

const OUTCOMES = ["verdict", "time", "memory"];
// Of shares of a limit: finer near the limit, where verdicts are decided, and near zero, where most programs are.
const EDGES = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1, 1.25];
const MISSING_GROUPS = new Set(["unrated", "unknown", "no tag"]);
const MOST_TAGS = 24;
const MOST_SAMPLES = 32; // columns of the plot of samples

// The counted rows that match the filters besides those named.
function matching(except) {
  const matches = matcher(except);
  return rows.filter((row, index) => COUNTED.has(row[C.status]) && matches(row, index));
}

function problemsOf(some) {
  const found = new Map();
  for (const row of some) {
    const problem = found.get(row[C.problem]) || { n: 0, correct: 0 };
    problem.n += 1;
    problem.correct += row[C.status] === "passed" ? 1 : 0;
    found.set(row[C.problem], problem);
  }
  return [...found.values()];
}

// 1 - C(n - c, k) / C(n, k)
function passAtK({ n, correct }, k) {
  let none = 1;
  for (let i = 0; i < k; i += 1) none *= (n - correct - i) / (n - i);
  return 1 - none;
}

const meanOver = (problems, value) => problems.reduce((sum, problem) => sum + value(problem), 0) / problems.length;

// Rows like those of the summary's table, in the order of its groups.
function groupsBy(name, table) {
  const except = [name, ...OUTCOMES];
  if (!isFiltered(except)) return table;
  const members = new Map(table.map(({ group }) => [group, []]));
  for (const row of matching(except)) {
    for (const group of GROUPS_OF[name](row)) members.get(group)?.push(row);
  }
  return [...members].filter(([, some]) => some.length).map(([group, some]) => {
    const problems = problemsOf(some);
    const mean = meanOver(problems, ({ n, correct }) => correct / n);
    return { group, problems: problems.length, solutions: some.length, pass_at_1: mean, interval: null };
  });
}

const levelText = (except) => (isFiltered(except) ? "" : `, ${Math.round(100 * stats.level)}% intervals`);

function curvePlot() {
  let points = meta.curve;
  if (isFiltered(OUTCOMES)) {
    const problems = problemsOf(matching(OUTCOMES));
    const fewest = problems.reduce((least, { n }) => Math.min(least, n), Infinity);
    points = points.filter(({ k }) => problems.length && k <= fewest)
      .map(({ k }) => ({ k, value: meanOver(problems, (problem) => passAtK(problem, k)), interval: null }));
  }
  if (points.length < 2) return null;
  return plotCard("pass@k", `mean over problems${levelText(OUTCOMES)}, up to the fewest samples of a problem`, shareCurve(points),
    () => figures(["k", "pass@k", "interval"], points.map((point) => [point.k, percent(point.value), endsText(point.interval)])));
}

function shareItem(name, row) {
  const { group, pass_at_1: share, interval, problems } = row;
  const text = visibleString(group);
  const about = `${text}: ${percent(share)} of ${plural(problems, "problem")}, ${rangeText(interval)}`;
  return { name: text, group, share, interval, problems, about, chosen: filter[name] === group, text: `${percent(share, 0)} of ${count(problems)}` };
}

function groupPlot(name, title, table, least = 1) {
  if (!table || table.length < least || (table.length === 1 && MISSING_GROUPS.has(table[0].group))) return null;
  const all = groupsBy(name, table);
  if (!all.length) return null;
  const inColumns = name === "rating" || name === "date";
  let shown = all;
  if (!inColumns) shown = [...all].sort((a, b) => b.problems - a.problems).slice(0, MOST_TAGS);
  const items = shown.map((row) => shareItem(name, row));
  if (name === "rating") for (const item of items) item.short = item.name.replace(/-\d+$/, "");
  const cut = shown.length < all.length ? `the ${shown.length} most frequent of ${all.length}: ` : "";
  const act = (item) => toggleFilter(name, item.group);
  return plotCard(title, `${cut}mean over problems${levelText([name, ...OUTCOMES])}${inColumns ? "; n: problems" : ", number of problems"}`,
    inColumns ? shareColumns(items, act, title) : shareLines(items, act, title),
    () => shareFigures(all), { wide: items.length > 12 && !inColumns });
}

function verdictCounts(some) {
  const counts = new Map();
  for (const row of some) counts.set(verdictOf(row), (counts.get(verdictOf(row)) || 0) + 1);
  return counts;
}

const verdictName = (verdict) => VERDICTS[verdict] || visibleString(verdict);

function verdictPlot() {
  const some = matching(["verdict"]);
  if (!some.length) return null;
  const items = [...verdictCounts(some)].sort(([, a], [, b]) => b - a).map(([verdict, n]) => {
    const [name, share] = [verdictName(verdict), n / some.length];
    const about = `${name}: ${count(n)} of ${count(some.length)} (${percent(share)})`;
    return { verdict, name, share, n, about, chosen: filter.verdict === verdict, text: `${count(n)} · ${percent(share)}` };
  });
  return plotCard("Verdicts of solutions", "each by its first case that is not accepted",
    shareLines(items, (item) => toggleFilter("verdict", item.verdict), "verdicts"),
    () => figures(["", "solutions", "share"], items.map((item) => [item.name, count(item.n), percent(item.share)])));
}

function samplePlot() {
  const some = matching(["sample"]);
  const last = some.reduce((most, row) => Math.max(most, row[C.sample]), 0);
  const size = Math.ceil((last + 1) / MOST_SAMPLES);
  const columns = new Map();
  for (const row of some) {
    const first = Math.floor(row[C.sample] / size) * size;
    if (!columns.has(first)) columns.set(first, []);
    columns.get(first).push(row);
  }
  if (columns.size < 2) return null;
  const order = [...verdictCounts(some)].sort(([a, n], [b, m]) => (b === "AC") - (a === "AC") || m - n).map(([verdict]) => verdict);
  const items = [...columns].sort(([a], [b]) => a - b).map(([first, members]) => {
    const group = size > 1 ? `${first}-${first + size - 1}` : String(first);
    const counts = verdictCounts(members);
    const parts = order.filter((verdict) => counts.has(verdict)).map((verdict) => ({ verdict, share: counts.get(verdict) / members.length }));
    const words = parts.map(({ verdict, share }) => `${percent(share)} ${verdictName(verdict)}`).join(", ");
    return { name: String(first), group, parts, counts, n: members.length, chosen: filter.sample === group, about: `sample ${group}: ${words}` };
  });
  const legend = h("div", { class: "legend" }, order.map((verdict) => h("span", {}, h("i", { class: verdictClass(verdict) }), verdictName(verdict))));
  return plotCard("Verdicts by sample number", "share of the solutions with this number",
    stackedColumns(items, (item) => toggleFilter("sample", item.group), "verdicts by sample number"),
    () => figures(["sample", "solutions", ...order.map(verdictName)],
      items.map((item) => [item.group, count(item.n), ...order.map((verdict) => count(item.counts.get(verdict) || 0))])), { legend });
}

function usagePlot(name, title, note) {
  const columns = EDGES.map((from, index) => {
    const to = EDGES[index + 1];
    const text = to === undefined ? `over ${Math.round(100 * from)}%` : `${Math.round(100 * from)} to ${Math.round(100 * to)}%`;
    const group = `${from}-${to ?? ""}`;
    return { from, group, text, passed: 0, failed: 0, chosen: filter[name] === group };
  });
  for (const row of matching([name])) {
    const share = limitShare(row, name);
    if (share === null) continue;
    const place = EDGES.findLastIndex((edge) => share > edge);
    columns[Math.max(0, place)][row[C.status]] += 1;
  }
  if (columns.every(({ passed, failed }) => passed + failed === 0)) return null;
  const legend = h("div", { class: "legend" }, ["passed", "failed"].map((kind) => h("span", {}, h("i", { class: kind }), kind)));
  return plotCard(title, note, usageColumns(columns, (item) => toggleFilter(name, item.group), title),
    () => figures(["of the limit", "passed", "failed"], columns.map((item) => [item.text, count(item.passed), count(item.failed)])), { legend });
}

// Draw all plots anew; tables that were unfolded stay so.
function drawPlots() {
  if (!stats) return;
  const place = byId("plots");
  const unfolded = new Set([...place.querySelectorAll("details[open]")].map((part) => part.parentNode.firstChild.textContent));
  const { tables } = stats;
  plotWidths.disconnect();
  const cards = [
    curvePlot(),
    groupPlot("rating", "pass@1 by rating", tables.rating),
    verdictPlot(),
    samplePlot(),
    usagePlot("time", "CPU time against its limit", "solutions by their slowest case"),
    usagePlot("memory", "Memory against its limit", "solutions by their largest case"),
    groupPlot("language", "pass@1 by language", tables.language, 2),
    groupPlot("date", `pass@1 by ${tables.month ? "month" : "year"} of the contest`, tables.month || tables.year),
    groupPlot("tag", "pass@1 by tag", tables.tag),
  ].filter(Boolean);
  const chips = filterChips(Object.keys(filter));
  place.replaceChildren(...(chips.length ? [h("p", { class: "chips wide" }, "The plots follow the filters: ", chips)] : []), ...cards);
  for (const card of cards) {
    drawArea(card.querySelector(".area"));
    const part = card.querySelector("details");
    part.open = unfolded.has(card.firstChild.textContent);
  }
}
