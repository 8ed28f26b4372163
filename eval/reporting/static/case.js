// The view of one case of an opened solution: expected and actual output, stderr, checker.

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
  const { table, lines } = diffTable(expected, output);
  return [h("h3", {}, "Expected and output"), h("p", { class: "dim" }, differenceNote(lines, expected, output, item)),
    h("div", { class: "box", tabindex: "0", role: "group", "aria-label": "Expected and actual output" }, table)];
}

function differenceNote(lines, expected, output, item) {
  const storedBytes = new TextEncoder().encode(output).length;
  const first = lines.find((line) => line.kind !== "equal" && line.kind !== "space");
  return [
    item[K.output_bytes] === 0 && "The program printed nothing.",
    first ? `First difference at line ${(first.a < 0 ? first.b : first.a) + 1}.`
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

function caseView(row, detail, index) {
  const item = detail.cases[index];
  const texts = detail.texts[String(index)];
  const reason = detail.reasons[item[K.reason]];
  const parts = [
    h("div", { class: "case-head" }, h("strong", {}, visible(caseName(item))), chip(item[K.verdict]),
      h("span", { class: "dim" }, visible(reason.replaceAll("_", " ")))),
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
  parts.push(h("h3", {}, "Run it again"), commandBox(`${detail.command} --case ${item[K.type]}:${item[K.number]}`));
  if (texts && texts.input_sha256) parts.push(h("p", { class: "dim mono hash" }, visible(`input sha256 ${texts.input_sha256}`)));
  return parts;
}
