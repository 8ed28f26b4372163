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
