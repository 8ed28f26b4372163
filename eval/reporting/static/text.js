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

// A scrollable text under a heading.
function textBox(label, value) {
  return [
    h("h3", {}, label),
    h("div", { class: "box", tabindex: "0", role: "group", "aria-label": label },
      h("pre", { class: "text" }, visible(value))),
  ];
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
