// One case of an opened solution: what came out, what should have, and who said what.

const judgedBad = (item) => item[K.verdict] !== "AC" && item[K.verdict] !== "SK";
const caseName = (item) => `${item[K.type]} ${item[K.number]}`;

function ofLimit(used, limit, write) {
  if (used === null || used === undefined) return "–";
  return limit ? `${write(used)} of ${write(limit)}` : write(used);
}

function pairs(entries) {
  return h("div", { class: "meta" }, entries.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => h("span", {}, h("b", {}, name), value instanceof Node ? value : visible(value))));
}

function caseNumbers(item, row) {
  return pairs([
    ["CPU", ofLimit(item[K.cpu_s], row[C.time_limit_s], seconds)],
    ["wall", seconds(item[K.wall_s])],
    ["memory", ofLimit(item[K.memory_bytes], row[C.memory_limit_bytes], bytes)],
    ["exit", item[K.signal] ? `signal ${item[K.signal]}` : item[K.exit_code]],
    ["input", bytes(item[K.input_bytes])],
    ["output", bytes(item[K.output_bytes])],
    ["score", item[K.score] === 0 || item[K.score] === 1 ? null : item[K.score]],
    ["", item[K.contended] ? "ran again alone: it was near its time limit" : null],
  ]);
}

function copyBox(command) {
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

const encoder = new TextEncoder();

function difference(texts, item) {
  const expected = texts.expected || "";
  const output = texts.output || "";
  const place = h("div", { class: "box", tabindex: "0", role: "group", "aria-label": "Expected and actual output" });
  let unified = matchMedia("(max-width: 760px)").matches;
  const note = h("p", { class: "dim" });
  const toggle = h("button", { type: "button" });
  const draw = () => {
    const { table, rows: lines } = diffTable(expected, output, unified);
    place.replaceChildren(table);
    toggle.textContent = unified ? "Side by side" : "One column";
    note.textContent = differenceNote(lines, expected, output, item);
  };
  toggle.addEventListener("click", () => { unified = !unified; draw(); });
  draw();
  return [h("div", { class: "case-head" }, h("h3", {}, "Expected and output"), h("span", { class: "step" }, toggle)), note, place];
}

function differenceNote(lines, expected, output, item) {
  const stored = encoder.encode(output).length;
  const notes = [];
  if (item[K.output_bytes] > stored) notes.push(`The record keeps the first ${bytes(stored)} of ${bytes(item[K.output_bytes])} of output; a difference may come later.`);
  const first = lines.find((line) => line.kind !== "eq" && line.kind !== "ws");
  if (first) notes.unshift(`First difference at line ${(first.a < 0 ? first.b : first.a) + 1}.`);
  else if (expected === output) notes.unshift("No difference.");
  else notes.unshift("They differ in white space only.");
  if (item[K.output_bytes] === 0) notes.unshift("The program printed nothing.");
  if (first && item[K.verdict] === "AC") notes.push("The checker accepts this output all the same.");
  return notes.join(" ");
}

function checkerWords(checker) {
  if (!checker || typeof checker !== "object") return [];
  const parts = [h("h3", {}, "The checker")];
  const { stdout, stderr, ...others } = checker;
  parts.push(facts(others));
  if (stdout) parts.push(...textBox("Checker's stdout", stdout));
  if (stderr) parts.push(...textBox("Checker's stderr", stderr));
  if (!stdout && !stderr) parts.push(h("p", { class: "dim" }, "It printed nothing."));
  return parts;
}

function caseView(row, detail, place) {
  const item = detail.cases[place];
  const texts = detail.texts[String(place)];
  const reason = detail.reasons[item[K.reason]];
  const parts = [
    h("div", { class: "case-head" }, h("strong", {}, visible(caseName(item))), chip(item[K.verdict]),
      h("span", { class: "dim" }, visible(reason.replaceAll("_", " ")))),
    caseNumbers(item, row),
  ];
  if (texts) {
    if (texts.error) parts.push(h("pre", { class: "said text" }, visible(texts.error)));
    if (texts.transcript) parts.push(...textBox("Transcript", texts.transcript));
    if (texts.expected || texts.output) parts.push(...difference(texts, item));
    if (texts.stderr) parts.push(...textBox("Standard error", texts.stderr));
    parts.push(...checkerWords(texts.checker));
    if (texts.repeats) parts.push(pairs([["verdicts of its repeats", texts.repeats.join(" ")]]));
  } else if (item[K.verdict] !== "SK") {
    parts.push(h("p", { class: "dim" }, "The report leaves this case's texts out for size; the command shows them."));
  }
  parts.push(h("h3", {}, "Run it again"), copyBox(`${detail.command} --case ${item[K.type]}:${item[K.number]}`));
  if (texts && texts.input_sha256) parts.push(h("p", { class: "dim mono hash" }, visible(`input sha256 ${texts.input_sha256}`)));
  return parts;
}
