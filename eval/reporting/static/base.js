// Elements and numbers. No function of the page turns a string into markup.

const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

// h("p", {class: "dim"}, "text", element, …) makes an element; strings become text nodes.
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const count = (n) => Number(n).toLocaleString("en-US");
const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;

const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

function seconds(s) {
  if (s === null || s === undefined) return "–";
  if (s < 0.0095) return `${(1000 * s).toFixed(1)} ms`;
  if (s < 0.9995) return `${Math.round(1000 * s)} ms`;
  return `${s.toFixed(2)} s`;
}

function bytes(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1024) return `${n} B`;
  const units = ["KB", "MB", "GB"];
  let value = n / 1024;
  let unit = 0;
  while (value >= 1024 && unit < 2) { value /= 1024; unit += 1; }
  return `${value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

function rangeText(interval, digits = 1) {
  if (!interval) return "no interval";
  const ends = `${percent(interval.low, digits)} – ${percent(interval.high, digits)}`;
  return `${Math.round(100 * interval.level)}% interval ${ends}`;
}

const VERDICTS = {
  AC: "accepted", WA: "wrong answer", TLE: "time limit", MLE: "memory limit", RE: "runtime error",
  CE: "compile error", OLE: "output limit", CU: "checker unclear", SK: "not run",
  ER: "infrastructure error",
};
const verdictClass = (verdict) => (Object.hasOwn(VERDICTS, verdict) ? `v-${verdict}` : "v-SK");

function chip(verdict) {
  return h("span", { class: `chip ${verdictClass(verdict)}`, title: VERDICTS[verdict] || null }, visible(String(verdict).replaceAll("_", " ")));
}

// Untrusted text. Characters that are invisible or that reorder a line are shown by name.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/gu;

function hiddenName(char) {
  const code = char.codePointAt(0);
  if (code === 9) return "→\t";
  if (code < 32) return String.fromCodePoint(0x2400 + code);
  if (code === 127) return "␡";
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

// The text as a fragment in which every hidden character is a marked element. Line feeds stay.
function visible(value) {
  const text = String(value ?? "");
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match[0] === "\n") continue;
    fragment.append(text.slice(from, match.index), h("span", { class: "ctl" }, hiddenName(match[0])));
    from = match.index + match[0].length;
  }
  fragment.append(text.slice(from));
  return fragment;
}

// The same as a string, for titles, labels and options.
function visibleString(value) {
  return String(value ?? "").replace(HIDDEN, (char) => (char === "\t" ? "→" : hiddenName(char)));
}

const SHOWN_CHARS = 100000; // of a text, above a button that shows the rest

// A text in a scrollable box. `draw` makes a fragment of a part of it.
function boxOf(label, value, draw = visible) {
  const text = String(value ?? "");
  const pre = h("pre", { class: "text" }, draw(text.slice(0, SHOWN_CHARS)));
  const box = h("div", { class: "box", tabindex: "0", role: "group", "aria-label": label }, pre);
  if (text.length > SHOWN_CHARS) {
    const more = h("button", { type: "button", on: { click: () => { pre.replaceChildren(draw(text)); more.remove(); } } },
      `Show all ${count(text.length)} characters`);
    box.append(more);
  }
  return box;
}

// A scrollable text under a heading.
const textBox = (label, value) => [h("h3", {}, label), boxOf(label, value)];

// A part that is drawn when it is first unfolded.
function fold(title, draw, open = false) {
  const body = h("div");
  const part = h("details", { class: "part", open }, h("summary", {}, title), body);
  const show = () => { if (part.open && !body.childNodes.length) body.append(...[draw()].flat()); };
  part.addEventListener("toggle", show);
  show();
  return part;
}

// A definition list of JSON values.
function factList(values) {
  const list = h("dl", { class: "facts" });
  for (const [name, value] of Object.entries(values || {})) {
    if (value === null || value === "" || value === undefined) continue;
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    const cell = h(shown.includes("\n") ? "pre" : "span", { class: "text" }, visible(shown));
    list.append(h("dt", {}, visible(name.replaceAll("_", " "))), h("dd", {}, cell));
  }
  return list;
}
