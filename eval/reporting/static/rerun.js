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
