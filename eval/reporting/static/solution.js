// The view of an opened solution: its facts, its program, a button for each case, and one in full.

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
  const source = sourcePart(index);
  view.append(source.element, ...compileView(detail));
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
    h("div", { class: "cases", role: "toolbar", "aria-label": "Cases", on: { keydown: onCaseKey } }, opened.buttons), opened.panel,
    meta.view?.run ? rerunPart(index, row, detail, source.loaded) : "");
  showCase(Math.max(0, detail.cases.findIndex(isFailing)));
  return view;
}

function caseButton(item, index, select = () => selectCase(index)) {
  const name = visibleString(`${caseName(item)}: ${VERDICTS[item[K.verdict]] || item[K.verdict]}`);
  const prefix = item[K.type] === "generated" ? "g" : "";
  return h("button", { type: "button", tabindex: "-1", "aria-pressed": "false", title: name, "aria-label": name,
    class: `${verdictClass(item[K.verdict])}${isFailing(item) ? " bad" : ""}`, on: { click: select } },
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
  if (opened.onCase) opened.onCase();
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
  const asked = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
  if (opened) asked.set("solution", opened.index);
  if (opened && opened.place >= 0) asked.set("case", opened.place);
  history.replaceState(null, "", `${page}#${asked}`.replace(/#$/, ""));
}

// One case of an opened solution: expected and actual output, stderr, checker.

const isFailing = (item) => item[K.verdict] !== "AC" && item[K.verdict] !== "SK";
const caseName = (item) => `${item[K.type]} ${item[K.number]}`;

function ofLimit(used, limit, format) {
  if (used === null || used === undefined) return "–";
  return limit ? `${format(used)} of ${format(limit)}` : format(used);
}

// A line of names and values; empty values are left out.
function factLine(entries) {
  return h("div", { class: "meta" }, entries.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => h("span", {}, h("b", {}, name), visible(value))));
}

function caseFigures(item, row) {
  return factLine([
    ["CPU", ofLimit(item[K.cpu_s], row[C.time_limit_s], seconds)],
    ["wall", seconds(item[K.wall_s])],
    ["memory", ofLimit(item[K.memory_bytes], row[C.memory_limit_bytes], bytes)],
    ["exit", item[K.signal] ? `signal ${item[K.signal]}` : item[K.exit_code]],
    ["input", bytes(item[K.input_bytes])],
    ["output", bytes(item[K.output_bytes])],
    ["score", item[K.score] === 0 || item[K.score] === 1 ? null : item[K.score]],
    ["", item[K.contended] ? "repeated alone because it was near its time limit" : null],
  ]);
}

function commandBox(command) {
  const text = h("div", { class: "box" }, h("pre", { class: "text command" }, visible(command)));
  const button = h("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return h("div", { class: "copy" }, text, button);
}

function outputDifference(texts, item) {
  const expected = texts.expected || "";
  const output = texts.output || "";
  const { table, lines } = diffTable(expected, output, item[K.verdict] === "AC");
  return [h("h3", {}, "Expected and output"), h("p", { class: "dim" }, differenceNote(lines, expected, output, item)),
    h("div", { class: "box", tabindex: "0", role: "group", "aria-label": "Expected and actual output" }, table)];
}

function differenceNote(lines, expected, output, item) {
  const storedBytes = new TextEncoder().encode(output).length;
  const first = lines.findIndex((kind) => kind !== "equal" && kind !== "space") + 1;
  return [
    item[K.output_bytes] === 0 && "The program printed nothing.",
    first ? `First difference at line ${first}.`
      : expected === output ? "No difference." : "Only white space differs.",
    item[K.output_bytes] > storedBytes && `The record has the first ${bytes(storedBytes)} of ${bytes(item[K.output_bytes])} of output, so a difference may come later.`,
    first && item[K.verdict] === "AC" && "The checker accepted this output.",
  ].filter(Boolean).join(" ");
}

function checkerView(checker) {
  if (!checker || typeof checker !== "object") return [];
  const { stdout, stderr, ...others } = checker;
  return [
    h("h3", {}, "Checker"), factList(others),
    ...(stdout ? textBox("Checker's stdout", stdout) : []),
    ...(stderr ? textBox("Checker's stderr", stderr) : []),
    stdout || stderr ? "" : h("p", { class: "dim" }, "The checker printed nothing."),
  ];
}

// `again`: {judged} of a case that was run again from this page.
function caseView(row, detail, index, again = null) {
  const item = detail.cases[index];
  const texts = detail.texts[String(index)];
  const reason = detail.reasons[item[K.reason]];
  const judged = !again || again.judged || !["AC", "WA", "CU"].includes(item[K.verdict]);
  const parts = [
    h("div", { class: "case-head" }, h("strong", {}, visible(caseName(item))), judged ? chip(item[K.verdict]) : h("span", { class: "chip v-SK" }, "not judged"),
      h("span", { class: "dim" }, judged ? visible(reason.replaceAll("_", " ")) : "the expected output is that of the input before")),
    caseFigures(item, row),
  ];
  if (texts) {
    if (texts.error) parts.push(h("pre", { class: "message text" }, visible(texts.error)));
    if (texts.input) parts.push(...textBox("Input", texts.input));
    if (texts.transcript) parts.push(...textBox("Transcript", texts.transcript));
    if (texts.expected || texts.output) parts.push(...outputDifference(texts, item));
    if (texts.stderr) parts.push(...textBox("Standard error", texts.stderr));
    parts.push(...checkerView(texts.checker));
    if (texts.repeats) parts.push(factLine([["verdicts of its repeats", texts.repeats.join(" ")]]));
  } else if (item[K.verdict] !== "SK") {
    parts.push(h("p", { class: "dim" }, "To stay small, the report omits the texts of this case. The command prints them."));
  }
  if (!again) parts.push(h("h3", {}, "Run it again"), commandBox(`${detail.command} --case ${item[K.type]}:${item[K.number]}`));
  if (texts && texts.input_sha256) parts.push(h("p", { class: "dim mono hash" }, visible(`input sha256 ${texts.input_sha256}`)));
  return parts;
}

// What a solution was made from: its program with coloured tokens, the response, the statement.

const KEYWORDS = "and|as|async|auto|await|bool|boolean|break|byte|case|catch|char|class|const|continue|def|default|del|do|double|elif|else|enum|except|false|False|final|finally|float|fn|for|foreach|from|fun|func|function|global|go|goto|if|impl|import|in|int|interface|is|lambda|let|long|match|mod|mut|namespace|new|nil|None|nonlocal|not|null|nullptr|operator|or|package|pass|private|protected|pub|public|raise|return|self|short|signed|sizeof|static|str|string|struct|super|switch|template|this|throw|true|True|try|type|typedef|typename|unsigned|use|using|val|var|vector|virtual|void|where|while|with|yield";

// The pattern of a language's tokens. A closing mark may be missing, so it takes linear time.
function tokenPattern(language) {
  const hash = ["python", "pypy3", "ruby"].includes(language);
  const quotes = language === "rust" ? '"' : '"\'`'; // 'a is a lifetime
  return new RegExp([
    hash ? String.raw`(?<comment>#.*)` : String.raw`(?<comment>//.*|/\*[^]*?(?:\*/|(?![^])))|(?<preprocessor>^[ \t]*#.*)`,
    `(?<string>"""[^]*?(?:"""|(?![^]))|${[...quotes].map((q) => String.raw`${q}(?:\\.|[^${q}\\\n])*${q}?`).join("|")})`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${KEYWORDS})\b)`,
  ].join("|"), "gm");
}

// The program as a fragment in which the tokens have colours.
function coloured(text, language) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(tokenPattern(language))) {
    const [kind] = Object.entries(match.groups).find(([, token]) => token !== undefined);
    fragment.append(visible(text.slice(from, match.index)), h("span", { class: `t-${kind}` }, visible(match[0])));
    from = match.index + match[0].length;
  }
  fragment.append(visible(text.slice(from)));
  return fragment;
}

const THOUGHTS_END = "</think>";

// The response: its thoughts folded, then its answer.
function responseView(response) {
  const end = response.lastIndexOf(THOUGHTS_END);
  const thoughts = end < 0 ? "" : response.slice(0, end + THOUGHTS_END.length);
  const answer = response.slice(thoughts.length).replace(/^\n+/, "");
  return [
    thoughts ? fold(`Thoughts, ${plural(thoughts.length, "character")}`, () => boxOf("Thoughts", thoughts)) : null,
    boxOf("Answer", answer),
  ].filter(Boolean);
}

function sourceParts(source) {
  const { program, response, statement, language, cut } = source;
  const name = (title, key) => (cut?.includes(key) ? `${title}, its beginning` : title);
  const draw = (part) => coloured(part, language);
  return [
    statement ? fold("Statement", () => boxOf("Statement", statement)) : null,
    response ? fold(name("Response", "response"), () => responseView(response)) : null,
    program ? fold(name("Program", "program"), () => boxOf("Program", program, draw), true) : null,
    source.named ? h("p", { class: "dim" }, "The line of the solutions file names the problem ", visible(source.named), ".") : null,
    ...(source.notes || []).map((note) => h("p", { class: "dim" }, visible(note))),
  ].filter(Boolean);
}

// {element, loaded}: where the texts are shown, and a promise of them.
function sourcePart(index) {
  const element = h("div");
  const show = (source) => { element.replaceChildren(...sourceParts(source)); return source; };
  const failed = (error) => show({ notes: [error.message] });
  return { element, loaded: ask("source", placeOf(index)).then(show).catch(failed) };
}

// Edit and run again: the program and a case's test are changed in the page, the box judges them.

function field(label, height, className = "") {
  const area = h("textarea", { rows: height, spellcheck: "false", autocapitalize: "off", wrap: "off", "aria-label": label });
  return { area, element: h("label", { class: className }, label, area), own: "", shown: "" };
}

function fillField(target, text) {
  target.own = text ?? "";
  target.area.value = target.own;
  target.shown = target.area.value; // a text area has no CR
  target.area.disabled = text === null;
  target.area.placeholder = text === null ? "too large to edit here" : "";
}

const isEdited = (target) => !target.area.disabled && target.area.value !== target.shown;
const textOf = (target) => (isEdited(target) ? target.area.value : target.own);

function rerunPart(index, row, detail, loaded) {
  return fold("Edit and run again", () => editor(index, detail, loaded));
}

function editor(index, detail, loaded) {
  const program = field("Program", 16, "whole");
  const given = field("Input", 6);
  const expected = field("Expected output", 6);
  const status = h("span", { class: "dim", role: "status" });
  const result = h("div", { role: "region", "aria-live": "polite", "aria-label": "Result of the run" });
  const caseId = () => { const item = detail.cases[opened.place]; return `${item[K.type]}:${item[K.number]}`; };
  const say = (text) => { status.textContent = text; };
  loaded.then((source) => {
    const whole = !source.cut?.includes("program");
    fillField(program, whole ? source.program || "" : null);
    for (const button of buttons) button.disabled = !whole;
  });

  const loadTest = async () => {
    const wanted = caseId();
    say("Opening the test and the box …");
    for (const one of [given, expected]) { one.area.value = ""; one.area.disabled = true; }
    try {
      const test = await ask("test", { ...placeOf(index), case: wanted });
      if (opened?.detail !== detail || wanted !== caseId()) return;
      fillField(given, test.given);
      fillField(expected, test.expected);
      say("");
    } catch (error) { say(error.message); }
  };

  const run = async (all) => {
    for (const button of buttons) button.disabled = true;
    say("Running …");
    const test = all ? {} : { given: isEdited(given) ? given.area.value : null, expected: isEdited(expected) ? expected.area.value : null };
    try {
      const answer = await ask("run", placeOf(index), { program: textOf(program), case: all ? null : caseId(), ...test });
      result.replaceChildren(...resultView(answer));
      say(`${answer.detail.cases.length === 1 ? "1 case" : `${answer.detail.cases.length} cases`} in ${seconds(answer.seconds)}`);
    } catch (error) {
      result.replaceChildren();
      say(error.message);
    }
    for (const button of buttons) button.disabled = false;
  };
  const reset = () => { fillField(program, program.own); loadTest(); result.replaceChildren(); say(""); };
  const press = (name, action) => h("button", { type: "button", on: { click: action } }, name);
  const buttons = [press("Run this case", () => run(false)), press("Run all cases", () => run(true)), press("Reset", reset)];
  for (const { area } of [program, given, expected]) {
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(false);
    });
  }
  opened.onCase = loadTest;
  loadTest();
  return h("div", { class: "edit" }, program.element, given.element, expected.element,
    h("div", { class: "acts whole" }, buttons, status), h("div", { class: "whole" }, result));
}

// The cases of a run again: a button for each, and one in full.
function resultView({ row, detail, judged }) {
  const panel = h("div");
  let pressed = null;
  const show = (place, button) => {
    if (pressed) pressed.setAttribute("aria-pressed", "false");
    pressed = button;
    if (button) button.setAttribute("aria-pressed", "true");
    panel.replaceChildren(...caseView(row, detail, place, { judged }));
  };
  const buttons = detail.cases.length < 2 ? [] : detail.cases.map((item, place) => {
    const button = caseButton(item, place, () => show(place, button));
    return button;
  });
  const first = Math.max(0, detail.cases.findIndex(isFailing));
  if (detail.cases.length) show(first, buttons[first]);
  return [...compileView(detail), buttons.length ? h("div", { class: "cases" }, buttons) : "", panel];
}
