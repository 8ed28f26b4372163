// Plots as SVG, drawn again when their width changes.

const plotWidths = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (Math.abs((target.drawnWidth || 0) - contentRect.width) < 2 || !contentRect.width) continue;
    target.drawnWidth = contentRect.width;
    requestAnimationFrame(() => target.replaceChildren(target.draw(contentRect.width)));
  }
});

// A card with a plot. `draw(width)` returns its SVG element.
function plotCard(title, note, draw, legend, wide) {
  const area = h("div");
  area.draw = draw;
  plotWidths.observe(area);
  return h("figure", { class: `card plot${wide ? " wide" : ""}` },
    h("h3", {}, title), note && h("p", {}, note), area, legend);
}

function frame(width, height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label }, children);
}

function label(x, y, text, anchor = "middle", className = "") {
  return svg("text", { x, y, "text-anchor": anchor, class: className }, text);
}

// A part of a plot that filters the table when it is clicked.
function filterMark(action, name, ...children) {
  const act = (event) => { event.preventDefault(); action(); };
  return svg("g", { class: "filter-mark", tabindex: "0", role: "button", "aria-label": `${name}. Show these solutions`,
    on: { click: act, keydown: (e) => { if (e.key === "Enter" || e.key === " ") act(e); } } },
    svg("title", {}, name), children);
}

const cutText = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Shares with intervals, one column for each item.
function shareColumns(items, action) {
  return (width) => {
    const height = 250;
    const [left, right, top, bottom] = [40, 14, 18, 40];
    const step = (width - left - right) / items.length;
    const y = (share) => top + (1 - share) * (height - top - bottom);
    const skip = Math.max(1, Math.ceil(40 / step));
    const parts = [0, 0.25, 0.5, 0.75, 1].map((share) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }),
      label(left - 6, y(share) + 4, percent(share, 0), "end"),
    ]);
    if (step > 30) parts.push(label(left - 6, height - bottom + 34, "n", "end"));
    items.forEach((item, index) => {
      const x = left + step * (index + 0.5);
      parts.push(filterMark(() => action(item), item.about,
        svg("rect", { class: "hit", x: x - step / 2 + 1, y: top - 14, width: step - 2, height: height - bottom - top + 18, rx: 5 }),
        item.interval && svg("line", { class: "range", x1: x, x2: x, y1: y(item.interval.low), y2: y(item.interval.high) }),
        svg("circle", { class: "dot", cx: x, cy: y(item.share), r: Math.min(6, step / 3) }),
        step > 42 && label(x, y(item.interval ? item.interval.high : item.share) - 7, percent(item.share, 0), "middle", "value")));
      if (index % skip === 0) parts.push(label(x, height - bottom + 18, item.short || item.name));
      if (step > 30) parts.push(label(x, height - bottom + 34, count(item.problems)));
    });
    return frame(width, height, "pass@1 by rating", parts);
  };
}

// Shares, one line for each item: a dot with its interval, or a bar in the colour of its verdict.
function shareLines(items, action, title) {
  return (width) => {
    const columns = width > 760 ? 2 : 1;
    const perColumn = Math.ceil(items.length / columns);
    const gap = 36;
    const wide = (width - gap * (columns - 1)) / columns;
    const most = items[0].verdict ? Math.max(...items.map((item) => item.share)) : 1;
    const [row, top] = [items[0].verdict ? 29 : 23, 4];
    const names = Math.min(170, wide * 0.4);
    const parts = items.map((item, index) => {
      const left = Math.floor(index / perColumn) * (wide + gap);
      const middle = top + row * ((index % perColumn) + 0.5);
      const x = (share) => left + names + 10 + (share / most) * (wide - names - 120);
      const bar = () => svg("rect", { class: `bar ${verdictClass(item.verdict)}`, x: x(0), y: middle - 9, width: Math.max(2, x(item.share) - x(0)), height: 18, rx: 3 });
      const dot = () => [
        svg("rect", { class: "track", x: x(0), y: middle - 4, width: x(1) - x(0), height: 8, rx: 4 }),
        item.interval && svg("line", { class: "range", x1: x(item.interval.low), x2: x(item.interval.high), y1: middle, y2: middle }),
        svg("circle", { class: "dot", cx: x(item.share), cy: middle, r: 5 })];
      return filterMark(() => action(item), item.about,
        svg("rect", { class: "hit", x: left, y: middle - row / 2 + 1, width: wide, height: row - 2, rx: 5 }),
        label(left + names, middle + 4, cutText(item.name, Math.floor(names / 6.6)), "end", "value"),
        item.verdict ? bar() : dot(),
        label(left + wide, middle + 4, item.text, "end", "value"));
    });
    return frame(width, top * 2 + row * perColumn, title, parts);
  };
}

// Solutions by the share of a limit that they used: `columns` of [from, to, passed, failed].
function usageColumns(columns, title) {
  const edge = (share) => `${Math.round(100 * share)}`;
  return (width) => {
    const height = 216;
    const [left, right, top, bottom] = [4, 4, 24, 40];
    const step = (width - left - right) / columns.length;
    const most = Math.max(1, ...columns.map(([, , passed, failed]) => passed + failed));
    const tall = (n) => (n / most) * (height - top - bottom);
    const parts = columns.map(([from, to, passed, failed], index) => {
      const x = left + step * index;
      const name = to === null ? `over ${edge(from)}%` : `${edge(from)} to ${edge(to)}%`;
      const base = height - bottom;
      const n = passed + failed;
      return svg("g", {}, svg("title", {}, `${name}: ${count(passed)} passed, ${count(failed)} failed`),
        svg("rect", { class: "hit", x, y: top, width: step, height: base - top }),
        passed && svg("rect", { class: "bar passed", x: x + 2, y: base - tall(passed), width: step - 4, height: tall(passed) }),
        failed && svg("rect", { class: "bar failed", x: x + 2, y: base - tall(n), width: step - 4, height: tall(failed) }),
        n > 0 && label(x + step / 2, base - tall(n) - 5, n > 9999 ? `${Math.round(n / 1000)}k` : count(n), "middle", "value"));
    });
    parts.push(svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
    columns.forEach(([from], index) => {
      if (index === 0 || (step < 30 && index % 2 === 0 && from !== 1)) return;
      const x = left + step * index;
      parts.push(label(x, height - bottom + 16, edge(from), "middle", from === 1 ? "value" : ""));
      if (from === 1) parts.push(svg("line", { class: "limit", x1: x, x2: x, y1: top - 8, y2: height - bottom + 3 }), label(x - 4, top - 10, "limit", "end"));
    });
    parts.push(label(width / 2, height - 6, "% of the limit"));
    return frame(width, height, title, parts);
  };
}

// The run as a whole: notices, figures, plots, tables, settings.

let stats = null;

// Draw what is known of the run as a whole: of a report once, of a view whenever it has changed.
function drawSummary(facts) {
  Object.assign(meta, facts);
  stats = meta.statistics;
  const unfolded = new Set([...document.querySelectorAll("#details details[open] > summary")].map((e) => e.textContent));
  for (const name of ["head", "notices", "tiles", "plots", "details"]) byId(name).replaceChildren();
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
  const ends = (interval) => (interval ? `${percent(interval.low)} – ${percent(interval.high)}` : "no interval");
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

function shareItem(row) {
  const { group, pass_at_1: share, interval, problems } = row;
  const name = visibleString(group);
  const about = `${name}: ${percent(share)} of ${plural(problems, "problem")}, ${rangeText(interval)}`;
  return { name, group, share, interval, problems, about, text: `${percent(share, 0)} of ${count(problems)}` };
}

function drawPlots() {
  const { tables, verdicts } = stats;
  const plots = byId("plots");
  const level = `${Math.round(100 * stats.level)}% intervals`;
  if (tables.rating.length) {
    const items = tables.rating.map((row) => ({ ...shareItem(row), short: visibleString(row.group).replace(/-\d+$/, "") }));
    plots.append(plotCard("pass@1 by rating", `mean over problems, ${level}; n: problems`,
      shareColumns(items, (item) => filterBy({ rating: item.group }))));
  }
  const counted = Object.entries(verdicts.solutions);
  if (counted.length) {
    const items = counted.map(([verdict, n]) => {
      const [name, share] = [VERDICTS[verdict] || visibleString(verdict), n / stats.counted];
      const about = `${name}: ${count(n)} of ${count(stats.counted)} (${percent(share)})`;
      return { verdict, name, share, about, text: `${count(n)} · ${percent(share)}` };
    });
    plots.append(plotCard("Verdicts of solutions", "each by its first case that is not accepted",
      shareLines(items, (item) => filterBy({ verdict: item.verdict }), "verdicts")));
  }
  const legend = () => h("div", { class: "legend" },
    h("span", {}, h("i", { class: "passed" }), "passed"), h("span", {}, h("i", { class: "failed" }), "failed"));
  for (const [name, title] of [["time", "CPU time against its limit"], ["memory", "Memory against its limit"]]) {
    const columns = meta.limit_usage[name];
    if (columns.every(([, , passed, failed]) => passed + failed === 0)) continue;
    plots.append(plotCard(title, `solutions by their ${name === "time" ? "slowest" : "largest"} case`, usageColumns(columns, title), legend()));
  }
  const tags = [...tables.tag].sort((a, b) => b.problems - a.problems).slice(0, 24);
  if (tags.length) {
    const note = `${tags.length === tables.tag.length ? "" : `the ${tags.length} most frequent tags: `}pass@1, ${level}, number of problems`;
    plots.append(plotCard("pass@1 by tag", note,
      shareLines(tags.map(shareItem), (item) => filterBy({ tag: item.group }), "pass@1 by tag"), null, true));
  }
}

function shareTable(title, tableRows) {
  const line = (row) => h("tr", {}, h("td", { class: "text" }, visible(row.group)),
    h("td", { class: "num" }, count(row.problems)), h("td", { class: "num" }, count(row.solutions)),
    h("td", { class: "num" }, percent(row.pass_at_1)),
    h("td", { class: "num dim" }, row.interval ? `${percent(row.interval.low)} – ${percent(row.interval.high)}` : "–"));
  const head = ["", "problems", "solutions", "pass@1", "interval"].map((name, index) =>
    h("th", { scope: "col", class: index ? "num" : null }, name));
  return h("div", {}, h("h3", {}, title),
    h("table", { class: "plain" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, tableRows.map(line))));
}

function countTable(title, values) {
  return h("div", {}, h("h3", {}, title), h("table", { class: "plain" }, h("tbody", {},
    Object.entries(values).map(([name, n]) => h("tr", {}, h("td", {}, visible(name.replaceAll("_", " "))), h("td", { class: "num" }, count(n)))))));
}

function collapsible(title, ...content) {
  return h("details", { class: "card" }, h("summary", {}, title), h("div", {}, content));
}

function drawDetails() {
  const titles = { rating: "By rating", language: "By language", year: "By contest year", checker: "By checker", official_tests: "By official tests", difficulty: "By difficulty", month: "By month of the contest", tag: "By tag" };
  const { tables, verdicts } = stats;
  byId("details").append(
    collapsible("Tables", h("div", { class: "tables" },
      Object.entries(titles).filter(([name]) => tables[name]?.length).map(([name, title]) => shareTable(title, tables[name])))),
    collapsible("Counts", h("div", { class: "tables" },
      countTable("Solutions by status", stats.statuses), countTable("Cases by verdict", verdicts.cases),
      countTable("Cases by reason", verdicts.reasons))),
    collapsible("How it was run", Object.entries(meta.run).map(([name, value]) => [
      h("h3", {}, visible(name)), value && typeof value === "object" ? factList(value) : h("p", {}, visible(value))])));
}
