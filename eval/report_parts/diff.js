// Line by line difference of expected and actual output, as graders see it: lines that are equal
// but for white space are paired and marked apart.

const DIFF_WORK = 600; // edits searched for before lines are simply paired by number
const DIFF_CONTEXT = 3;
const DIFF_LINES = 400; // lines drawn before a button asks for the rest

function toLines(text) {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

const squeezed = (line) => line.trim().split(/\s+/).join(" ");

// Myers' greedy search: pairs [i, j] of equal lines, or null when more than DIFF_WORK edits.
function equalPairs(a, b) {
  const most = Math.min(a.length + b.length, DIFF_WORK);
  const reach = new Map([[1, 0]]);
  const trail = [];
  for (let edits = 0; edits <= most; edits += 1) {
    trail.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1) : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trail, a.length, b.length);
    }
  }
  return null;
}

function walkBack(trail, n, m) {
  const pairs = [];
  let x = n;
  let y = m;
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const reach = trail[edits];
    const k = x - y;
    const down = k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = edits ? reach.get(fromK) : 0;
    const fromY = edits ? fromX - fromK : 0;
    while (x > fromX && y > fromY && x > 0 && y > 0) { x -= 1; y -= 1; pairs.push([x, y]); }
    x = fromX;
    y = fromY;
  }
  return pairs.reverse();
}

// Rows {kind: eq|ws|del|add|chg, a: line number or -1, b: line number or -1}.
function diffRows(linesA, linesB) {
  const a = linesA.map(squeezed);
  const b = linesB.map(squeezed);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);
  const found = equalPairs(middleA, middleB);
  const pairs = [
    ...Array.from({ length: start }, (_, i) => [i, i]),
    ...(found || []).map(([i, j]) => [i + start, j + start]),
    ...Array.from({ length: end }, (_, i) => [a.length - end + i, b.length - end + i]),
  ];
  const rows = [];
  let i = 0;
  let j = 0;
  for (const [x, y] of [...pairs, [a.length, b.length]]) {
    while (i < x || j < y) {
      const kind = i < x && j < y ? (a[i] === b[j] ? "ws" : "chg") : i < x ? "del" : "add";
      if (kind === "ws" && linesA[i] === linesB[j]) rows.push({ kind: "eq", a: i, b: j });
      else rows.push({ kind, a: i < x ? i : -1, b: j < y ? j : -1 });
      if (i < x) i += 1;
      if (j < y) j += 1;
    }
    if (x < a.length) rows.push({ kind: linesA[x] === linesB[y] ? "eq" : "ws", a: x, b: y });
    i = x + 1;
    j = y + 1;
  }
  return rows;
}

// A line with the words that differ from its counterpart marked.
function markedLine(line, other) {
  if (other === null) return visible(line);
  const words = line.split(/(\s+)/);
  const others = other.split(/(\s+)/);
  let start = 0;
  while (start < words.length && start < others.length && words[start] === others[start]) start += 1;
  let end = 0;
  while (end < words.length - start && end < others.length - start &&
    words[words.length - 1 - end] === others[others.length - 1 - end]) end += 1;
  const part = (from, to) => words.slice(from, to).join("");
  const marked = part(start, words.length - end);
  const fragment = document.createDocumentFragment();
  fragment.append(visible(part(0, start)));
  if (marked) fragment.append(h("mark", {}, visible(marked)));
  fragment.append(visible(part(words.length - end, words.length)));
  return fragment;
}

// Trailing blanks are what a reader misses: shown as dots where lines differ by them.
const dotted = (line) => line.replace(/ +$/, (blanks) => "·".repeat(blanks.length));

function diffTable(expected, output, unified) {
  const a = toLines(expected);
  const b = toLines(output);
  const rows = diffRows(a, b);
  const body = h("tbody");
  const keep = new Set();
  rows.forEach((row, place) => {
    if (row.kind === "eq") return;
    for (let near = place - DIFF_CONTEXT; near <= place + DIFF_CONTEXT; near += 1) keep.add(near);
  });
  if (!keep.size) for (let place = 0; place < 2 * DIFF_CONTEXT; place += 1) keep.add(place);
  const draw = (row) => (unified ? unifiedRows(row, a, b) : [splitRow(row, a, b)]);
  const gap = (from, to, text) => {
    const line = h("tr", { class: "gap" });
    const open = h("button", { type: "button", on: { click: () => {
      line.replaceWith(...rows.slice(from, to).flatMap(draw));
    } } }, text);
    line.append(h("td", { colspan: unified ? 4 : 4 }, open));
    return line;
  };
  let place = 0;
  let drawn = 0;
  while (place < rows.length) {
    let to = place;
    if (drawn >= DIFF_LINES) {
      body.append(gap(place, rows.length, `show ${plural(rows.length - place, "more line")}`));
      break;
    }
    while (to < rows.length && !keep.has(to)) to += 1;
    if (to - place > 1) {
      body.append(gap(place, to, `show ${plural(to - place, "equal line")}`));
      place = to;
    } else {
      body.append(...draw(rows[place]));
      place += 1;
      drawn += 1;
    }
  }
  const heads = unified
    ? h("tr", {}, h("th", { scope: "col", colspan: 4 }, "− expected   + output"))
    : h("tr", {}, h("th", { scope: "colgroup", colspan: 2 }, "Expected"), h("th", { scope: "colgroup", colspan: 2 }, "Output"));
  const columns = unified
    ? h("colgroup", {}, h("col", { class: "no" }), h("col", { class: "no" }), h("col", { class: "sign" }), h("col"))
    : h("colgroup", {}, h("col", { class: "no" }), h("col"), h("col", { class: "no" }), h("col"));
  return { table: h("table", { class: "diff" }, columns, h("thead", {}, heads), body), rows, a, b };
}

function splitRow(row, a, b) {
  const left = row.a < 0 ? null : a[row.a];
  const right = row.b < 0 ? null : b[row.b];
  const side = (line, other, number, kind) => [
    h("td", { class: "no" }, line === null ? "" : String(number + 1)),
    h("td", { class: `text ${line === null || row.kind === "eq" ? "" : row.kind === "ws" ? "ws" : kind}` },
      line === null ? "" : row.kind === "eq" ? visible(line) : markedLine(row.kind === "ws" ? dotted(line) : line, other)),
  ];
  return h("tr", {}, side(left, right, row.a, "del"), side(right, left, row.b, "add"));
}

function unifiedRows(row, a, b) {
  const line = (numberA, numberB, sign, kind, content) => h("tr", {},
    h("td", { class: "no" }, numberA), h("td", { class: "no" }, numberB),
    h("td", { class: `sign ${kind}` }, sign), h("td", { class: `text ${kind}` }, content));
  if (row.kind === "eq") return [line(row.a + 1, row.b + 1, "", "", visible(a[row.a]))];
  const left = row.a < 0 ? null : a[row.a];
  const right = row.b < 0 ? null : b[row.b];
  const kinds = row.kind === "ws" ? ["ws", "ws"] : ["del", "add"];
  const lines = [];
  if (left !== null) lines.push(line(row.a + 1, "", "−", kinds[0], markedLine(row.kind === "ws" ? dotted(left) : left, right)));
  if (right !== null) lines.push(line("", row.b + 1, "+", kinds[1], markedLine(row.kind === "ws" ? dotted(right) : right, left)));
  return lines;
}
