// Start of the page, theme, keys and address.

function storedTheme(theme) { // browsers may forbid storage for pages from the file system
  try {
    if (theme) localStorage.setItem("gradebox-theme", theme);
    return localStorage.getItem("gradebox-theme");
  } catch { return null; }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = storedTheme();
  if (chosen !== "dark" && chosen !== "light") chosen = null;
  const update = () => setTheme(chosen || (system.matches ? "dark" : "light"));
  update();
  system.addEventListener("change", update);
  byId("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    storedTheme(chosen);
    update();
  });
}

function focusRow(by) {
  const names = [...document.querySelectorAll(".solutions .name")];
  const focused = names.indexOf(document.activeElement);
  const from = focused >= 0 || !opened ? focused : names.indexOf(nameOfRow(opened.index));
  const next = names[from < 0 ? 0 : from + by];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => byId("search").focus(),
  j: () => focusRow(1),
  k: () => focusRow(-1),
  n: () => stepFailing(1),
  p: () => stepFailing(-1),
  "[": () => pageNumber > 0 && turnPage(-1),
  "]": () => (pageNumber + 1) * PAGE_ROWS < view.length && turnPage(1),
  t: () => byId("theme").click(),
  "?": () => byId("help").showModal(),
  ArrowRight: () => stepCase(1),
  ArrowLeft: () => stepCase(-1),
  Escape: () => {
    const index = opened?.index;
    leaveRow();
    nameOfRow(index)?.focus();
  },
};

function stepCase(by) {
  if (opened && opened.panel && opened.detail.cases[opened.place + by]) selectCase(opened.place + by);
}

function onKey(event) {
  const field = event.target.closest("input, select, textarea, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (field) {
    if (event.key === "Escape" && field.id === "search") field.blur();
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest(".box, summary")) return;
  if (Object.hasOwn(KEYS, event.key)) {
    if (event.key !== "Escape") event.preventDefault();
    KEYS[event.key]();
  }
}

function openAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const given = Object.fromEntries([...asked].filter(([name]) => Object.hasOwn(filter, name)));
  if (isFiltered([]) || Object.keys(given).length) filterBy(given);
  if (!asked.has("solution")) return Promise.resolve();
  return goTo(Number(asked.get("solution")), asked.has("case") ? Number(asked.get("case")) : -1);
}

startTheme();
byId("help-open").addEventListener("click", () => byId("help").showModal());
document.addEventListener("keydown", onKey);
document.querySelector(".brand .dim").textContent = meta.view ? "view" : "report";
if (meta.view?.kind === "runs") watchRuns();
else watchRun();
