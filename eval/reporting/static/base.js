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
