// An opened solution: what is known of it, its cases as buttons, and one of them in full.

// opened: {index, row, detail, place, panel, buttons} of the open solution, or null.
let opened = null;

function compileFacts(detail) {
  const { log, cpu_s, memory_bytes, ok, ...others } = detail.compile || {};
  if (typeof log !== "string" || !log.trim()) return [];
  return [...textBox("Compiler", log), facts(others),
    pairs([["CPU", seconds(cpu_s)], ["memory", bytes(memory_bytes)], ["compiled", ok ? "yes, with warnings" : "no"]])];
}

function solutionView(index, row, detail) {
  const box = h("div");
  const failing = detail.cases.findIndex(judgedBad);
  box.append(pairs([
    ["status", row[C.status]], ["solution", row[C.solution]], ["line", detail.line],
    ["tags", row[C.tags].join(", ")], ["skipped cases", detail.skipped || null],
    ["sandbox", [detail.sandbox.backend, detail.sandbox.level].filter(Boolean).join(" ")],
  ]));
  if (detail.error) box.append(h("pre", { class: "said text" }, visible(detail.error)));
  box.append(...compileFacts(detail));
  if (!detail.cases.length) {
    box.append(h("p", { class: "dim" }, "No case was run."), copyBox(detail.command));
    opened = { index, row, detail, place: -1, panel: null, buttons: [] };
    return box;
  }
  const bad = detail.cases.filter(judgedBad).length;
  const buttons = detail.cases.map((item, place) => caseButton(item, place));
  const panel = h("div", { role: "region", "aria-live": "polite", "aria-label": "Case" });
  const step = (name, by) => h("button", { type: "button", disabled: !bad, on: { click: () => stepFailing(by) } }, name);
  box.append(
    h("div", { class: "case-head" }, h("h3", {}, `${plural(detail.cases.length, "case")}, ${count(bad)} failing`),
      h("span", { class: "step" }, step("Previous failing", -1), step("Next failing", 1))),
    h("div", { class: "cases", role: "toolbar", "aria-label": "Cases", on: { keydown: caseKeys } }, buttons), panel);
  opened = { index, row, detail, place: -1, panel, buttons };
  showCase(failing < 0 ? 0 : failing, false);
  return box;
}

function caseButton(item, place) {
  const name = `${caseName(item)}: ${VERDICTS[item[K.verdict]] || item[K.verdict]}`;
  const letter = item[K.type] === "generated" ? "g" : "";
  return h("button", { type: "button", tabindex: "-1", "aria-pressed": "false", title: visibleString(name), "aria-label": visibleString(name),
    class: `${verdictClass(item[K.verdict])}${judgedBad(item) ? " bad" : ""}`, on: { click: () => showCase(place, true) } },
    h("span", {}, visible(`${letter}${item[K.number]}`)));
}

function caseKeys(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (!by) return;
  event.preventDefault();
  const last = opened.detail.cases.length - 1;
  showCase(Math.max(0, Math.min(last, opened.place + by)), true);
  opened.buttons[opened.place].focus();
}

function showCase(place, told) {
  const before = opened.buttons[opened.place];
  if (before) fill(before, { "aria-pressed": "false", tabindex: "-1" }, []);
  opened.place = place;
  fill(opened.buttons[place], { "aria-pressed": "true", tabindex: "0" }, []);
  opened.panel.replaceChildren(...caseView(opened.row, opened.detail, place));
  if (told) writeHash();
}

// The next (1) or previous (-1) failing case, around the end.
function stepFailing(by) {
  if (!opened || !opened.panel) return;
  const { cases } = opened.detail;
  for (let far = 1; far <= cases.length; far += 1) {
    const place = (opened.place + by * far + cases.length * (far + 1)) % cases.length;
    if (judgedBad(cases[place])) {
      showCase(place, true);
      opened.buttons[place].scrollIntoView({ block: "nearest" });
      return;
    }
  }
}

// The address names what is open, so that it can be kept and sent.
function writeHash() {
  const hash = opened ? `#solution=${opened.index}${opened.place >= 0 ? `&case=${opened.place}` : ""}` : "#";
  history.replaceState(null, "", hash === "#" ? location.href.split("#")[0] : hash);
}
