// Several runs: a table, and two of them side by side.

async function watchRuns() {
  for (const name of ["solutions", "tiles", "plots"]) byId(name).hidden = true;
  byId("head").append(h("h1", {}, "Runs"), h("p", { class: "dim" }, "Reading …"));
  const chosen = { a: 0, b: 1 };
  const result = h("div");
  byId("details").append(result);
  for (;;) {
    let runs = [];
    try {
      runs = await ask("runs");
      if (new Set(runs.map((run) => run.name)).size < runs.length) for (const run of runs) run.name = run.path;
      byId("head").replaceChildren(h("h1", {}, plural(runs.length, "run")), runsTable(runs, chosen), compareButton(runs, chosen, result));
      byId("notices").replaceChildren();
    } catch (error) {
      byId("notices").replaceChildren(h("p", { class: "notice bad" }, error.message));
    }
    document.documentElement.dataset.ready = "yes";
    await pause(runs.length && runs.every((run) => run.finished) ? 10 * POLL_MS.finished : SUMMARY_MS);
  }
}

function runsTable(runs, chosen) {
  const pick = (side, index) => h("input", { type: "radio", name: side, checked: chosen[side] === index,
    "aria-label": `${side.toUpperCase()}: ${visibleString(runs[index].name)}`, on: { change: () => { chosen[side] = index; } } });
  const line = (run, index) => {
    const { statistics: s } = run;
    const pass = s.pass_at_k[0];
    const name = [h("a", { href: `run/${index}/`, title: visibleString(run.path) }, visible(run.name)), run.finished ? "" : h("span", { class: "dim" }, " · in progress")];
    const counts = [s.solutions, s.problems, s.verdicts.solutions.AC || 0, s.statuses.error || 0].map(count);
    return [name, ...counts, pass.value === null ? "–" : percent(pass.value), endsText(pass.interval), pick("a", index), pick("b", index)];
  };
  return h("div", { class: "card runs" }, figures(["Run", "Solutions", "Problems", "Passed", "Errors", "pass@1", "Interval", "A", "B"], runs.map(line)));
}

function compareButton(runs, chosen, result) {
  const compare = async () => {
    try {
      result.replaceChildren(h("p", { class: "dim" }, "Comparing …"));
      const pair = { ...chosen };
      result.replaceChildren(...comparison(runs[pair.a], runs[pair.b], await ask("compare", pair)));
    } catch (error) {
      result.replaceChildren(h("p", { class: "notice bad" }, error.message));
    }
  };
  return h("p", {}, h("button", { type: "button", id: "compare", on: { click: compare } }, "Compare A and B"));
}

const MOST_CHANGES = 500;

function comparison(a, b, found) {
  const points = (share) => `${share >= 0 ? "+" : ""}${(100 * share).toFixed(2)} points`;
  const { interval } = found;
  const shares = ([right, of]) => `${count(right)} of ${count(of)}`;
  const better = ({ a: [x, n], b: [y, m] }) => y * n > x * m;
  const line = (change) => [visible(change.problem_id), shares(change.a), shares(change.b), better(change) ? "B better" : "A better"];
  return [
    h("h2", {}, "A: ", visible(a.name), " · B: ", visible(b.name)),
    ...found.differences.map((one) => h("p", { class: `notice ${one.refuses ? "bad" : "warn"}` }, one.refuses ? "The runs were judged differently: " : "", visible(one.text))),
    factLine([
      ["pass@1 of A", percent(found.pass_at_1_a)], ["of B", percent(found.pass_at_1_b)], ["B − A", points(found.difference)],
      ["standard error", found.standard_error === null ? null : (100 * found.standard_error).toFixed(2)],
      ["interval", interval && `${points(interval.low)} to ${points(interval.high)}`],
      ["common problems", count(found.problems)], ["B better on", count(found.won)], ["worse on", count(found.lost)],
      ["exact sign test", `p = ${found.sign_test_p.toPrecision(3)}`],
    ]),
    !found.changed.length ? h("p", {}, "No problem changed.") :
    h("div", { class: "card runs" }, figures(["Changed problem", "A", "B", ""], found.changed.slice(0, MOST_CHANGES).map(line))),
    found.changed.length > MOST_CHANGES ? h("p", { class: "dim" }, `${count(found.changed.length - MOST_CHANGES)} more changed; gradebox compare --all lists them`) : "",
  ];
}

// Start of the page, theme, keys and address.

function storedTheme(theme) { // browsers may forbid storage for pages from the file system
  try {
    if (theme) localStorage.setItem("gradebox-theme", theme);
    return localStorage.getItem("gradebox-theme");
  } catch { return null; }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = storedTheme();
  if (chosen !== "dark" && chosen !== "light") chosen = null;
  const update = () => setTheme(chosen || (system.matches ? "dark" : "light"));
  update();
  system.addEventListener("change", update);
  byId("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    storedTheme(chosen);
    update();
  });
}

function focusRow(by) {
  const names = [...document.querySelectorAll(".solutions .name")];
  const focused = names.indexOf(document.activeElement);
  const from = focused >= 0 || !opened ? focused : names.indexOf(nameOfRow(opened.index));
  const next = names[from < 0 ? 0 : from + by];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => byId("search").focus(),
  j: () => focusRow(1),
  k: () => focusRow(-1),
  n: () => stepFailing(1),
  p: () => stepFailing(-1),
  "[": () => pageNumber > 0 && turnPage(-1),
  "]": () => (pageNumber + 1) * PAGE_ROWS < view.length && turnPage(1),
  t: () => byId("theme").click(),
  "?": () => byId("help").showModal(),
  ArrowRight: () => stepCase(1),
  ArrowLeft: () => stepCase(-1),
  Escape: () => {
    const index = opened?.index;
    leaveRow();
    nameOfRow(index)?.focus();
  },
};

function stepCase(by) {
  if (opened && opened.panel && opened.detail.cases[opened.place + by]) selectCase(opened.place + by);
}

function onKey(event) {
  const field = event.target.closest("input, select, textarea, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (field) {
    if (event.key === "Escape" && field.id === "search") field.blur();
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest(".box, summary")) return;
  if (Object.hasOwn(KEYS, event.key)) {
    if (event.key !== "Escape") event.preventDefault();
    KEYS[event.key]();
  }
}

function openAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const given = Object.fromEntries([...asked].filter(([name]) => Object.hasOwn(filter, name)));
  if (isFiltered([]) || Object.keys(given).length) filterBy(given);
  if (!asked.has("solution")) return Promise.resolve();
  return goTo(Number(asked.get("solution")), asked.has("case") ? Number(asked.get("case")) : -1);
}

startTheme();
byId("help-open").addEventListener("click", () => byId("help").showModal());
document.addEventListener("keydown", onKey);
document.querySelector(".brand .dim").textContent = meta.view ? "view" : "report";
if (meta.view?.kind === "runs") watchRuns();
else watchRun();
