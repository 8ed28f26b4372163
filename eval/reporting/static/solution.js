// The view of an opened solution: its facts, a button for each case, and one case in full.

// The open solution, {index, row, detail, place, panel, buttons}, or null. `place` is the index
// of the shown case, -1 when there is none.
let opened = null;

function compileView(detail) {
  const { log, cpu_s, memory_bytes, ok, ...others } = detail.compile || {};
  if (typeof log !== "string" || !log.trim()) return [];
  return [...textBox("Compiler", log), factList(others),
    factLine([["CPU", seconds(cpu_s)], ["memory", bytes(memory_bytes)], ["compiled", ok ? "yes, with warnings" : "no"]])];
}

function solutionView(index, row, detail) {
  const view = h("div", {}, factLine([
    ["status", row[C.status]], ["solution", row[C.solution]], ["line", detail.line],
    ["tags", row[C.tags].join(", ")], ["skipped cases", detail.skipped || null],
    ["sandbox", [detail.sandbox.backend, detail.sandbox.level].filter(Boolean).join(" ")],
  ]));
  if (detail.error) view.append(h("pre", { class: "message text" }, visible(detail.error)));
  view.append(...compileView(detail));
  opened = { index, row, detail, place: -1, panel: null, buttons: [] };
  if (!detail.cases.length) {
    view.append(h("p", { class: "dim" }, "No case was run."), commandBox(detail.command));
    return view;
  }
  const failing = detail.cases.filter(isFailing).length;
  opened.buttons = detail.cases.map(caseButton);
  opened.panel = h("div", { role: "region", "aria-live": "polite", "aria-label": "Case" });
  const step = (name, by) => h("button", { type: "button", disabled: !failing, on: { click: () => stepFailing(by) } }, name);
  view.append(
    h("div", { class: "case-head" }, h("h3", {}, `${plural(detail.cases.length, "case")}, ${count(failing)} failing`),
      h("span", { class: "step" }, step("Previous failing", -1), step("Next failing", 1))),
    h("div", { class: "cases", role: "toolbar", "aria-label": "Cases", on: { keydown: onCaseKey } }, opened.buttons), opened.panel);
  showCase(Math.max(0, detail.cases.findIndex(isFailing)));
  return view;
}

function caseButton(item, index) {
  const name = visibleString(`${caseName(item)}: ${VERDICTS[item[K.verdict]] || item[K.verdict]}`);
  const prefix = item[K.type] === "generated" ? "g" : "";
  return h("button", { type: "button", tabindex: "-1", "aria-pressed": "false", title: name, "aria-label": name,
    class: `${verdictClass(item[K.verdict])}${isFailing(item) ? " bad" : ""}`, on: { click: () => selectCase(index) } },
    h("span", {}, visible(`${prefix}${item[K.number]}`)));
}

function onCaseKey(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (!by) return;
  event.preventDefault();
  selectCase(Math.max(0, Math.min(opened.detail.cases.length - 1, opened.place + by)));
  opened.buttons[opened.place].focus();
}

function showCase(index) {
  const before = opened.buttons[opened.place];
  if (before) fill(before, { "aria-pressed": "false", tabindex: "-1" }, []);
  opened.place = index;
  fill(opened.buttons[index], { "aria-pressed": "true", tabindex: "0" }, []);
  opened.panel.replaceChildren(...caseView(opened.row, opened.detail, index));
}

function selectCase(index) {
  showCase(index);
  writeAddress();
}

// Show the next (1) or previous (-1) failing case; the first follows the last.
function stepFailing(by) {
  if (!opened || !opened.panel) return;
  const { cases } = opened.detail;
  for (let far = 1; far <= cases.length; far += 1) {
    const index = (opened.place + by * far + cases.length * (far + 1)) % cases.length;
    if (isFailing(cases[index])) {
      selectCase(index);
      opened.buttons[index].scrollIntoView({ block: "nearest" });
      return;
    }
  }
}

// Keep the open solution and case in the address, so that it can be bookmarked and shared.
function writeAddress() {
  const page = location.href.split("#")[0];
  const hash = opened ? `#solution=${opened.index}${opened.place >= 0 ? `&case=${opened.place}` : ""}` : "";
  history.replaceState(null, "", page + hash);
}
