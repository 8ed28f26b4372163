// The line difference of expected and actual output. Lines that differ in white space only are
// marked in another colour, because most comparison modes treat them as equal.

const CONTEXT_LINES = 3;
const MAX_LINES = 400; // lines drawn above a button that draws the rest

function toLines(text) {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

const squeezed = (line) => line.trim().split(/\s+/).join(" ");

// How many elements two arrays share at their beginning and at their end.
function commonEnds(a, b) {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [start, end];
}

// Compare line i of `a` with line i of `b`, as judges do. The result has "equal", "space", "change", "del" or "add" for each.
function diffLines(a, b) {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => {
    if (i >= a.length || i >= b.length) return i < a.length ? "del" : "add";
    if (a[i] === b[i]) return "equal";
    return squeezed(a[i]) === squeezed(b[i]) ? "space" : "change";
  });
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
  lines.forEach((kind, index) => {
    if (kind === "equal") return;
    for (let near = index - CONTEXT_LINES; near <= index + CONTEXT_LINES; near += 1) nearDifference.add(near);
  });
  if (!nearDifference.size) for (let index = 0; index < 2 * CONTEXT_LINES; index += 1) nearDifference.add(index);
  const draw = (index) => diffRow(index, lines[index], a, b, accepted ? "want" : "got");
  const foldedRow = (from, to, text) => {
    const row = h("tr", { class: "gap" });
    const unfold = () => row.replaceWith(...Array.from({ length: to - from }, (_, i) => draw(from + i)));
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
      body.append(draw(from));
      from += 1;
      drawn += 1;
    }
  }
  const heads = ["Expected", "Output"].map((name) => h("th", { scope: "colgroup", colspan: 2 }, name));
  const columns = ["no", null, "no", null].map((name) => h("col", { class: name }));
  return { table: h("table", { class: "diff" }, h("colgroup", {}, columns), h("thead", {}, h("tr", {}, heads)), body), lines };
}

// A table row: expected line on the left, output line on the right.
function diffRow(index, kind, a, b, got) {
  const [left, right] = [a[index] ?? null, b[index] ?? null];
  const cells = (own, other, colour) => {
    const changed = own !== null && kind !== "equal";
    const text = !changed ? visible(own) : markedLine(kind === "space" ? dotted(own) : own, other);
    return [h("td", { class: "no" }, own === null ? "" : String(index + 1)),
      h("td", { class: `text ${!changed ? "" : kind === "space" ? "ws" : colour}` }, text)];
  };
  return h("tr", {}, cells(left, right, "want"), cells(right, left, got));
}
