// The line difference of expected and actual output. Lines that differ in white space only are
// paired and marked in another colour, because most comparison modes treat them as equal.

const MAX_CELLS = 4_000_000; // of the table of two outputs; in longer ones, lines are paired by number
const CONTEXT_LINES = 3;
const MAX_LINES = 400; // lines drawn above a button that draws the rest

function toLines(text) {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

const squeezed = (line) => line.trim().split(/\s+/).join(" ");

// Pairs [i, j] of a longest common subsequence of lines.
function equalPairs(a, b) {
  const width = b.length + 1;
  if ((a.length + 1) * width > MAX_CELLS) return [];
  const longest = new Uint16Array((a.length + 1) * width); // of the lines from (i, j) on
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      longest[at] = a[i] === b[j] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { pairs.push([i, j]); i += 1; j += 1; }
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

// How many elements two arrays share at their beginning and at their end.
function commonEnds(a, b) {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [start, end];
}

// Lines {kind: equal|space|del|add|change, a: index or -1, b: index or -1}; `space`: only white
// space differs.
function diffLines(linesA, linesB) {
  const a = linesA.map(squeezed);
  const b = linesB.map(squeezed);
  const [start, end] = commonEnds(a, b);
  const middle = equalPairs(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const pairs = [
    ...Array.from({ length: start }, (_, i) => [i, i]),
    ...middle.map(([i, j]) => [i + start, j + start]),
    ...Array.from({ length: end }, (_, i) => [a.length - end + i, b.length - end + i]),
    [a.length, b.length],
  ];
  const lines = [];
  const addPair = (i, j) => lines.push({ kind: linesA[i] === linesB[j] ? "equal" : "space", a: i, b: j });
  let i = 0;
  let j = 0;
  for (const [x, y] of pairs) {
    while (i < x || j < y) {
      if (i < x && j < y && a[i] === b[j]) addPair(i, j);
      else lines.push({ kind: i >= x ? "add" : j >= y ? "del" : "change", a: i < x ? i : -1, b: j < y ? j : -1 });
      if (i < x) i += 1;
      if (j < y) j += 1;
    }
    if (x < a.length) addPair(x, y);
    i = x + 1;
    j = y + 1;
  }
  return lines;
}

// A line in which the words that differ from the other line are marked.
function markedLine(line, other) {
  if (other === null) return visible(line);
  const words = line.split(/(\s+)/);
  const [start, end] = commonEnds(words, other.split(/(\s+)/));
  const part = (from, to) => visible(words.slice(from, to).join(""));
  const last = words.length - end;
  const fragment = document.createDocumentFragment();
  fragment.append(part(0, start));
  if (last > start) fragment.append(h("mark", {}, part(start, last)));
  fragment.append(part(last, words.length));
  return fragment;
}

// Trailing blanks are invisible, so they are shown as dots where only white space differs.
const dotted = (line) => line.replace(/ +$/, (blanks) => "·".repeat(blanks.length));

// `accepted`: the output is right although it is another one.
function diffTable(expected, output, accepted) {
  const a = toLines(expected);
  const b = toLines(output);
  const lines = diffLines(a, b);
  const nearDifference = new Set();
  lines.forEach((line, index) => {
    if (line.kind === "equal") return;
    for (let near = index - CONTEXT_LINES; near <= index + CONTEXT_LINES; near += 1) nearDifference.add(near);
  });
  if (!nearDifference.size) for (let index = 0; index < 2 * CONTEXT_LINES; index += 1) nearDifference.add(index);
  const draw = (line) => diffRow(line, a, b, accepted ? "want" : "got");
  const foldedRow = (from, to, text) => {
    const row = h("tr", { class: "gap" });
    const unfold = () => row.replaceWith(...lines.slice(from, to).map(draw));
    row.append(h("td", { colspan: 4 }, h("button", { type: "button", on: { click: unfold } }, text)));
    return row;
  };
  const body = h("tbody");
  let drawn = 0;
  for (let from = 0; from < lines.length;) {
    if (drawn >= MAX_LINES) {
      body.append(foldedRow(from, lines.length, `show ${plural(lines.length - from, "more line")}`));
      break;
    }
    let to = from;
    while (to < lines.length && !nearDifference.has(to)) to += 1;
    if (to - from > 1) {
      body.append(foldedRow(from, to, `show ${plural(to - from, "equal line")}`));
      from = to;
    } else {
      body.append(draw(lines[from]));
      from += 1;
      drawn += 1;
    }
  }
  const heads = ["Expected", "Output"].map((name) => h("th", { scope: "colgroup", colspan: 2 }, name));
  const columns = ["no", null, "no", null].map((name) => h("col", { class: name }));
  return { table: h("table", { class: "diff" }, h("colgroup", {}, columns), h("thead", {}, h("tr", {}, heads)), body), lines };
}

// A table row: expected line on the left, output line on the right.
function diffRow(line, a, b, got) {
  const left = line.a < 0 ? null : a[line.a];
  const right = line.b < 0 ? null : b[line.b];
  const space = line.kind === "space";
  const cells = (index, own, other, colour) => {
    const changed = own !== null && line.kind !== "equal";
    const text = !changed ? visible(own) : markedLine(space ? dotted(own) : own, other);
    return [h("td", { class: "no" }, index < 0 ? "" : String(index + 1)),
      h("td", { class: `text ${!changed ? "" : space ? "ws" : colour}` }, text)];
  };
  return h("tr", {}, cells(line.a, left, right, "want"), cells(line.b, right, left, got));
}
