// The table of solutions: filters, sorting, pages. `view` holds the indices of the rows that
// match the filters, in table order.

const PAGE_ROWS = 50;
const COLUMN_LIST = [
  { key: "problem", name: "Problem" },
  { key: "sample", name: "Sample", narrow: false },
  { key: "language", name: "Language", narrow: false },
  { key: "rating", name: "Rating", num: true, narrow: false },
  { key: "verdict", name: "Verdict" },
  { key: "score", name: "Score", num: true, narrow: false },
  { key: "passed", name: "Passed", num: true },
  { key: "cpu", name: "Time", num: true },
  { key: "memory", name: "Memory", num: true, narrow: false },
];
const NATURAL = new Intl.Collator("en", { numeric: true });
const filter = { text: "", verdict: "", rating: "", language: "", tag: "", date: "", sample: "", time: "", memory: "" };
const sorting = { key: "", down: false };
let view = [];
let pageNumber = 0;
let searchTexts = [];
let listIsOld = false; // rows have changed since `view` was made

const orLowest = (value) => value ?? -Infinity; // missing values sort first
const SORT_BY = {
  problem: (a, b) => NATURAL.compare(a[C.problem], b[C.problem]) || orLowest(a[C.sample]) - orLowest(b[C.sample]),
  sample: (a, b) => orLowest(a[C.sample]) - orLowest(b[C.sample]) || NATURAL.compare(a[C.solution], b[C.solution]),
  language: (a, b) => NATURAL.compare(a[C.language], b[C.language]),
  rating: byNumber((row) => row[C.rating]),
  verdict: (a, b) => NATURAL.compare(verdictOf(a), verdictOf(b)),
  score: byNumber((row) => row[C.score]),
  passed: byNumber((row) => (row[C.judged] ? row[C.passed] / row[C.judged] : null)),
  cpu: byNumber((row) => row[C.cpu_s]),
  memory: byNumber((row) => row[C.memory_bytes]),
};

function byNumber(value) {
  return (a, b) => { const [x, y] = [orLowest(value(a)), orLowest(value(b))]; return x < y ? -1 : x > y ? 1 : 0; };
}

const COUNTED = new Set(["passed", "failed"]);
const verdictOf = (row) => (COUNTED.has(row[C.status]) ? row[C.verdict] || "no code" : row[C.status]);

function ratingGroup(row) {
  const rating = row[C.rating];
  if (rating === null || rating === undefined) return "unrated";
  const low = Math.floor(rating / 200) * 200;
  return `${low}-${low + 199}`;
}

const LIMITED = { time: ["cpu_s", "time_limit_s"], memory: ["memory_bytes", "memory_limit_bytes"] };

// The share of the time (memory) limit that the slowest (largest) case used; null when unknown.
function limitShare(row, name) {
  const [used, limit] = LIMITED[name].map((column) => row[C[column]] ?? null);
  return used === null || !limit ? null : used / limit;
}

// Whether a share is in a range: "0.8-0.9" includes 0.9 but not 0.8, "1.25-" has no upper end.
function inShares(share, range) {
  const [from, to] = range.split("-");
  return share !== null && (share > Number(from) || (from === "0" && share === 0)) && (!to || share <= Number(to));
}

function inNumbers(number, range) {
  const [low, high = low] = range.split("-").map(Number);
  return number >= low && number <= high;
}

// Filter → the groups of a row. A row matches when one of them is the value of the filter.
const GROUPS_OF = {
  verdict: (row) => [verdictOf(row)],
  rating: (row) => [ratingGroup(row)],
  language: (row) => [row[C.language]],
  tag: (row) => (row[C.tags].length ? [...new Set(row[C.tags])] : ["no tag"]),
  date: (row) => [row[C.date] ?? "unknown"],
};

function matchesOne(row, name) {
  const value = filter[name];
  if (name === "sample") return inNumbers(row[C.sample], value);
  return LIMITED[name] ? inShares(limitShare(row, name), value) : GROUPS_OF[name](row).includes(value);
}

const isFiltered = (except) => Object.keys(filter).some((name) => filter[name] && !except.includes(name));

// A function (row, index) that tells whether a row matches all filters but those in `except`.
function matcher(except = []) {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const set = Object.keys(filter).filter((name) => name !== "text" && filter[name] && !except.includes(name));
  return (row, index) => set.every((name) => matchesOne(row, name)) && words.every((word) => searchTexts[index].includes(word));
}

// For each of these filters that is set, a button that clears the filter.
function filterChips(names) {
  return names.filter((name) => filter[name]).map((name) =>
    h("button", { type: "button", class: "filter-chip", "aria-label": `Clear the filter ${name}`, on: { click: () => toggleFilter(name, filter[name]) } },
      `${name}: `, visible(filter[name]), LIMITED[name] ? " of the limit" : "", " ✕"));
}

function filterMenu(label, name, values) {
  const select = h("select", { name, "aria-label": label, on: { change: () => { filter[name] = select.value; applyFilter(); } } },
    h("option", { value: "" }, `${label}: all`),
    values.map((value) => h("option", { value }, visibleString(VERDICTS[value] ? `${value} ${VERDICTS[value]}` : value))));
  return select;
}

const searchText = (row) => [row[C.problem], row[C.solution], row[C.language], row[C.error], ...row[C.tags]].join("\n").toLowerCase();

function prepareTable() {
  searchTexts = rows.map(searchText);
  const search = h("input", { type: "search", id: "search", placeholder: "Search problem, solution, tag, error …", "aria-label": "Search solutions", autocomplete: "off" });
  let timer = 0;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { filter.text = search.value; applyFilter(); }, 80); });
  const form = byId("filters");
  form.onsubmit = () => false;
  const press = (name, action) => h("button", { type: "button", on: { click: action } }, name);
  const menus = Object.keys(GROUPS_OF).map((name) => {
    const values = [...new Set(rows.flatMap(GROUPS_OF[name]))].sort(NATURAL.compare);
    return values.length > 1 ? filterMenu(name[0].toUpperCase() + name.slice(1), name, values) : "";
  });
  form.replaceChildren(search, ...menus,
    h("span", { id: "chips" }), press("Clear", () => filterBy({})), press("CSV", saveTable));
}

// Save the rows that match the filters. A text that a spreadsheet would compute gets a ' before it.
function saveTable() {
  const cell = (value) => {
    const text = Array.isArray(value) ? value.join(" ") : String(value ?? "");
    const shown = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  };
  const lines = [meta.columns, ...view.map((index) => rows[index])];
  const file = new Blob(lines.map((line) => `${line.map(cell).join(",")}\r\n`), { type: "text/csv" });
  const link = h("a", { href: URL.createObjectURL(file), download: `${meta.name}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Show rows that have changed. While a solution is open, it stays as it is, and no row is added
// to the list, leaves it or moves.
function updateTable(changed) {
  if (byId("filters").contains(document.activeElement)) {
    searchTexts = rows.map(searchText); // a menu that is in use is not replaced
  } else {
    prepareTable();
    showFilters();
  }
  if (opened) {
    for (const index of changed) {
      const line = byId(`row-${index}`);
      if (line && index !== opened.index) line.replaceWith(rowLine(index));
    }
    listIsOld = true;
    byId("found").textContent = `${count(rows.length)} solutions; close the open one to list new ones`;
    return;
  }
  const focused = document.activeElement?.closest("tr.line")?.id;
  matchRows();
  drawTable();
  if (focused) byId(focused)?.querySelector(".name").focus();
}

const fieldOf = (name) => (name === "text" ? byId("search") : byId("filters").elements[name]);

// Show the filters in their fields; a filter that no field can show becomes a chip.
function showFilters() {
  for (const name of Object.keys(filter)) {
    const field = fieldOf(name);
    if (field && field !== document.activeElement) field.value = filter[name];
  }
  byId("chips")?.replaceChildren(...filterChips(Object.keys(filter).filter((name) => fieldOf(name)?.value !== filter[name])));
}

// Set these filters and clear the others.
function filterBy(values) {
  for (const name of Object.keys(filter)) filter[name] = values[name] ?? "";
  applyFilter();
}

// Set a filter, or clear it when it already has this value, and show the solutions.
function toggleFilter(name, value) {
  filter[name] = filter[name] === value ? "" : value;
  applyFilter();
  if (!filter[name]) return;
  byId("solutions").scrollIntoView({ block: "start" });
  byId("solutions").focus({ preventScroll: true });
}

function applyFilter() {
  matchRows();
  pageNumber = 0;
  opened = null;
  drawTable();
  drawPlots();
  showFilters();
  writeAddress();
}

function matchRows() {
  listIsOld = false;
  const matches = matcher();
  view = [];
  rows.forEach((row, index) => { if (matches(row, index)) view.push(index); });
  if (sorting.key) {
    const compare = SORT_BY[sorting.key];
    const sign = sorting.down ? -1 : 1;
    view.sort((a, b) => sign * compare(rows[a], rows[b]) || a - b);
  }
}

function sortBy(key) {
  if (sorting.key === key && sorting.down) sorting.key = "";
  else { sorting.down = sorting.key === key; sorting.key = key; }
  applyFilter();
  document.querySelector(`th[data-key="${key}"] button`).focus();
}

function headCell(column) {
  const state = sorting.key === column.key ? (sorting.down ? "descending" : "ascending") : "none";
  const arrow = { none: "", ascending: " ↑", descending: " ↓" }[state];
  return h("th", { scope: "col", "aria-sort": state, "data-key": column.key, class: cellClass(column) },
    h("button", { type: "button", on: { click: () => sortBy(column.key) } }, column.name, arrow));
}

const cellClass = (column) => [`c-${column.key}`, column.num && "num", column.narrow === false && "h-narrow"].filter(Boolean).join(" ");
const cut = (value) => h("span", { class: "cut text", title: visibleString(value) }, visible(value));

const CELLS = {
  problem: (row, index) => h("button", { type: "button", class: "name text", "aria-expanded": "false", title: visibleString(row[C.problem]), "data-sample": visibleString(row[C.sample]),
    on: { click: (event) => { event.stopPropagation(); toggleRow(index); } } }, visible(row[C.problem])),
  sample: (row) => cut(String(row[C.sample]) === String(row[C.solution]) ? row[C.sample] : `${row[C.sample]} · ${row[C.solution]}`),
  language: (row) => cut(row[C.language]),
  rating: (row) => row[C.rating] ?? "–",
  verdict: (row) => chip(verdictOf(row)),
  score: (row) => (row[C.score] === null ? "–" : Number(row[C.score].toFixed(3))),
  passed: (row) => (row[C.judged] ? `${count(row[C.passed])}/${count(row[C.judged])}` : "–"),
  cpu: (row) => h("span", { class: row[C.cpu_s] > 0.8 * row[C.time_limit_s] ? "near" : null }, seconds(row[C.cpu_s])),
  memory: (row) => h("span", { class: row[C.memory_bytes] > 0.8 * row[C.memory_limit_bytes] ? "near" : null }, bytes(row[C.memory_bytes])),
};

function rowLine(index) {
  return h("tr", { class: "line", id: `row-${index}`, on: { click: () => toggleRow(index) } },
    COLUMN_LIST.map((column) => h("td", { class: cellClass(column) }, CELLS[column.key](rows[index], index))));
}

function drawTable() {
  const pages = Math.max(1, Math.ceil(view.length / PAGE_ROWS));
  pageNumber = Math.max(0, Math.min(pages - 1, pageNumber));
  const from = pageNumber * PAGE_ROWS;
  const shown = view.slice(from, from + PAGE_ROWS);
  const range = shown.length ? `, ${count(from + 1)} to ${count(from + shown.length)} shown` : "";
  byId("found").textContent = `${count(view.length)} of ${plural(rows.length, "solution")}${range}`;
  byId("table").replaceChildren(h("table", { class: "solutions" },
    h("thead", {}, h("tr", {}, COLUMN_LIST.map(headCell))), h("tbody", {}, shown.map(rowLine))));
  const move = (name, by) => h("button", { type: "button", disabled: pageNumber + by < 0 || pageNumber + by >= pages, on: { click: () => turnPage(by) } }, name);
  byId("pages").replaceChildren(...(pages > 1 ? [move("Previous", -1), h("span", {}, `page ${count(pageNumber + 1)} of ${count(pages)}`), move("Next", 1)] : []));
}

function turnPage(by) {
  opened = null;
  pageNumber += by;
  drawTable();
  writeAddress();
  byId("solutions").scrollIntoView({ block: "start" });
}

const nameOfRow = (index) => byId(`row-${index}`)?.querySelector(".name");

function closeRow() {
  if (!opened) return;
  const line = byId(`row-${opened.index}`);
  opened = null;
  if (line) {
    line.classList.remove("open");
    line.querySelector(".name").setAttribute("aria-expanded", "false");
    line.nextElementSibling.remove();
  }
  writeAddress();
}

// Close the open solution, and list the solutions that have come meanwhile.
function leaveRow() {
  closeRow();
  if (!listIsOld) return;
  matchRows();
  drawTable();
}

async function toggleRow(index) {
  const same = opened && opened.index === index;
  if (same) leaveRow();
  else {
    closeRow();
    await openRow(index);
  }
}

async function openRow(index) {
  const row = rows[index];
  const cell = h("td", { class: "inside", colspan: COLUMN_LIST.length }, h("p", { class: "dim" }, "Loading …"));
  const line = byId(`row-${index}`);
  line.after(h("tr", { class: "open" }, cell));
  line.classList.add("open");
  line.querySelector(".name").setAttribute("aria-expanded", "true");
  opened = { index, row, detail: null, place: -1, panel: null, buttons: [] };
  try {
    const detail = await ask("solution", placeOf(index));
    if (!opened || opened.index !== index) return;
    cell.replaceChildren(solutionView(index, row, detail));
    writeAddress();
  } catch (error) {
    cell.replaceChildren(h("p", { class: "notice bad" }, error.message));
  }
}

// Open a solution on whatever page of the table it is, and show one of its cases.
async function goTo(index, caseIndex) {
  if (!rows[index]) {
    byId("found").replaceChildren(h("span", { class: "notice bad" }, `The address names a solution that this report does not have; it has ${plural(rows.length, "solution")}.`));
    return;
  }
  if (!view.includes(index)) filterBy({});
  pageNumber = Math.floor(view.indexOf(index) / PAGE_ROWS);
  opened = null;
  drawTable();
  await openRow(index);
  if (opened && opened.detail && opened.detail.cases[caseIndex]) selectCase(caseIndex);
  byId(`row-${index}`).scrollIntoView({ block: "start" });
}
