// Charts as SVG, drawn again when their width changes.

const plotWidths = new ResizeObserver((entries) => {
  for (const { target } of entries) requestAnimationFrame(() => drawArea(target));
});

function drawArea(area) {
  const width = area.clientWidth;
  if (!width || Math.abs((area.drawnWidth || 0) - width) < 2) return;
  area.drawnWidth = width;
  area.replaceChildren(area.draw(width));
}

// A card with a chart. `draw(width)` returns its SVG element, `table` its figures.
function plotCard(title, note, draw, table, { legend = null, wide = false } = {}) {
  const area = h("div", { class: "area" });
  area.draw = draw;
  plotWidths.observe(area);
  return h("figure", { class: `card plot${wide ? " wide" : ""}` },
    h("h3", {}, title), h("p", {}, note), area, legend, fold("Figures", table));
}

const endsText = (interval) => (interval ? `${percent(interval.low)} – ${percent(interval.high)}` : "–");

// A table of which all columns but the first are numbers.
function figures(names, lines) {
  const cells = (tag, values, attributes = {}) => h("tr", {}, values.map((value, index) => h(tag, { class: index ? "num" : "text", ...attributes }, value)));
  return h("table", { class: "plain" }, h("thead", {}, cells("th", names, { scope: "col" })), h("tbody", {}, lines.map((line) => cells("td", line))));
}

const shareFigures = (groups) => figures(["", "problems", "solutions", "pass@1", "interval"],
  groups.map((row) => [visible(row.group), count(row.problems), count(row.solutions), percent(row.pass_at_1), endsText(row.interval)]));

function frame(width, height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label }, children);
}

function label(x, y, text, anchor = "middle", className = "") {
  return svg("text", { x, y, "text-anchor": anchor, class: className }, text);
}

// A part of a plot that filters the page when it is clicked, and no longer when clicked again.
function filterMark(item, action, ...children) {
  const act = (event) => { event.preventDefault(); action(item); };
  const { about: name, chosen } = item;
  return svg("g", { class: `filter-mark${chosen ? " chosen" : ""}`, tabindex: "0", role: "button", "aria-pressed": String(chosen), "aria-label": `${name}. Show these solutions`,
    on: { click: act, keydown: (e) => { if (e.key === "Enter" || e.key === " ") act(e); } } },
    svg("title", {}, name), children);
}

const cutText = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// The place of shares in charts of columns and of curves, and the lines at the quarters.
const SHARES = { height: 250, left: 40, right: 14, top: 18, bottom: 40 };
const shareY = (share) => SHARES.top + (1 - share) * (SHARES.height - SHARES.top - SHARES.bottom);
const shareGrid = (width) => [0, 0.25, 0.5, 0.75, 1].map((share) => [
  svg("line", { class: "grid", x1: SHARES.left, x2: width - SHARES.right, y1: shareY(share), y2: shareY(share) }),
  label(SHARES.left - 6, shareY(share) + 4, percent(share, 0), "end"),
]);

// A curve of shares over k, which is on a logarithmic scale, in the band of their intervals.
function shareCurve(points) {
  return (width) => {
    const { height, left, right, bottom } = SHARES;
    const inner = width - left - right - 34;
    const x = (k) => left + 14 + (inner * Math.log(k)) / Math.log(points.at(-1).k);
    const line = (some, share) => some.map((point) => `${x(point.k).toFixed(1)},${shareY(share(point)).toFixed(1)}`);
    const known = points.filter(({ interval }) => interval);
    const band = [...line(known, (p) => p.interval.high), ...line(known, (p) => p.interval.low).reverse()];
    const parts = [shareGrid(width), svg("polygon", { class: "band", points: band.join(" ") }),
      svg("polyline", { class: "curve", points: line(points, (p) => p.value).join(" ") })];
    let shown = Infinity; // the place of the last label: from the right, so that the last k has one
    for (const point of [...points].reverse()) {
      const [at, y] = [x(point.k), shareY(point.value)];
      const isApart = shown - at > 40;
      if (isApart) shown = at;
      parts.push(svg("g", {}, svg("title", {}, `pass@${point.k}: ${percent(point.value)}, ${rangeText(point.interval)}`),
        svg("circle", { class: "dot", cx: at, cy: y, r: 5 }),
        isApart && label(at, y - 10, percent(point.value, 0), "middle", "value"),
        isApart && label(at, height - bottom + 18, count(point.k))));
    }
    parts.push(label(left + 14 + inner / 2, height - 6, "k samples"));
    return frame(width, height, "pass@k over k", parts);
  };
}

// Columns of 100% that are divided by verdict.
function stackedColumns(items, action, title) {
  return (width) => {
    const { height, left, right, top, bottom } = SHARES;
    const step = (width - left - right) / items.length;
    const skip = Math.max(1, Math.ceil((8 + 8 * items.at(-1).name.length) / step));
    const parts = [shareGrid(width)];
    items.forEach((item, index) => {
      const x = left + step * index;
      let from = 0;
      const bars = item.parts.map(({ verdict, share }) => {
        from += share;
        return svg("rect", { class: `bar ${verdictClass(verdict)}`, x: x + step * 0.08, y: shareY(from), width: step * 0.84, height: shareY(0) - shareY(share) });
      });
      parts.push(filterMark(item, action,
        svg("rect", { class: "hit", x, y: top - 6, width: step, height: height - bottom - top + 12, rx: 3 }), bars));
      if (index % skip === 0) parts.push(label(x + step / 2, height - bottom + 18, item.name));
    });
    parts.push(label(left + (width - left - right) / 2, height - 6, "sample number"));
    return frame(width, height, title, parts);
  };
}

// Shares with intervals, one column for each item.
function shareColumns(items, action, title) {
  return (width) => {
    const { height, left, right, top, bottom } = SHARES;
    const step = (width - left - right) / items.length;
    const y = shareY;
    const longest = Math.max(...items.map((item) => (item.short || item.name).length));
    const skip = Math.max(1, Math.ceil((8 + 7 * longest) / step));
    const parts = [shareGrid(width)];
    if (step > 30) parts.push(label(left - 6, height - bottom + 34, "n", "end"));
    items.forEach((item, index) => {
      const x = left + step * (index + 0.5);
      parts.push(filterMark(item, action,
        svg("rect", { class: "hit", x: x - step / 2 + 1, y: top - 14, width: step - 2, height: height - bottom - top + 18, rx: 5 }),
        item.interval && svg("line", { class: "range", x1: x, x2: x, y1: y(item.interval.low), y2: y(item.interval.high) }),
        svg("circle", { class: "dot", cx: x, cy: y(item.share), r: Math.min(6, step / 3) }),
        step > 42 && label(x, y(item.interval ? item.interval.high : item.share) - 7, percent(item.share, 0), "middle", "value")));
      if (index % skip === 0) parts.push(label(x, height - bottom + 18, item.short || item.name));
      if (step > 30) parts.push(label(x, height - bottom + 34, count(item.problems)));
    });
    return frame(width, height, title, parts);
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
      return filterMark(item, action,
        svg("rect", { class: "hit", x: left, y: middle - row / 2 + 1, width: wide, height: row - 2, rx: 5 }),
        label(left + names, middle + 4, cutText(item.name, Math.floor(names / 6.6)), "end", "value"),
        item.verdict ? bar() : dot(),
        label(left + wide, middle + 4, item.text, "end", "value"));
    });
    return frame(width, top * 2 + row * perColumn, title, parts);
  };
}

// Solutions by the share of a limit that they used: `columns` of {from, text, passed, failed}.
function usageColumns(columns, action, title) {
  const edge = (share) => `${Math.round(100 * share)}`;
  return (width) => {
    const height = 216;
    const [left, right, top, bottom] = [4, 4, 24, 40];
    const step = (width - left - right) / columns.length;
    const most = Math.max(1, ...columns.map(({ passed, failed }) => passed + failed));
    const tall = (n) => (n / most) * (height - top - bottom);
    const parts = columns.map((item, index) => {
      const { passed, failed } = item;
      const x = left + step * index;
      const base = height - bottom;
      const n = passed + failed;
      return filterMark({ ...item, about: `${item.text}: ${count(passed)} passed, ${count(failed)} failed` }, action,
        svg("rect", { class: "hit", x, y: top, width: step, height: base - top }),
        passed && svg("rect", { class: "bar passed", x: x + 2, y: base - tall(passed), width: step - 4, height: tall(passed) }),
        failed && svg("rect", { class: "bar failed", x: x + 2, y: base - tall(n), width: step - 4, height: tall(failed) }),
        n > 0 && label(x + step / 2, base - tall(n) - 5, n > 9999 ? `${Math.round(n / 1000)}k` : count(n), "middle", "value"));
    });
    parts.push(svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
    columns.forEach(({ from }, index) => {
      if (index === 0 || (step < 30 && index % 2 === 0 && from !== 1)) return;
      const x = left + step * index;
      parts.push(label(x, height - bottom + 16, edge(from), "middle", from === 1 ? "value" : ""));
      if (from === 1) parts.push(svg("line", { class: "limit", x1: x, x2: x, y1: top - 8, y2: height - bottom + 3 }), label(x - 4, top - 10, "limit", "end"));
    });
    parts.push(label(width / 2, height - 6, "% of the limit"));
    return frame(width, height, title, parts);
  };
}
