// Start, theme, keys and the address.

function currentTheme() {
  return document.documentElement.dataset.theme;
}

function setTheme(theme, keep) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  if (!keep) return;
  try { localStorage.setItem("gradebox-theme", theme); } catch { /* no storage for files: not kept */ }
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("gradebox-theme"); } catch { /* as above */ }
  const system = () => { if (!chosen) setTheme(dark.matches ? "dark" : "light", false); };
  if (chosen === "dark" || chosen === "light") setTheme(chosen, false);
  else { chosen = null; system(); }
  dark.addEventListener("change", system);
  byId("theme").addEventListener("click", () => {
    chosen = currentTheme() === "dark" ? "light" : "dark";
    setTheme(chosen, true);
  });
}

function moveOver(by) {
  const names = [...document.querySelectorAll(".solutions .name")];
  const at = names.indexOf(document.activeElement);
  const openAt = opened ? names.indexOf(byId(`row-${opened.index}`)?.querySelector(".name")) : -1;
  const from = at >= 0 ? at : openAt;
  const next = names[from < 0 ? 0 : from + by];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => byId("search").focus(),
  j: () => moveOver(1),
  k: () => moveOver(-1),
  n: () => stepFailing(1),
  p: () => stepFailing(-1),
  "[": () => pageNumber > 0 && turnPage(-1),
  "]": () => (pageNumber + 1) * PAGE_ROWS < view.length && turnPage(1),
  t: () => byId("theme").click(),
  "?": () => byId("help").showModal(),
  ArrowRight: () => opened && opened.panel && stepCase(1),
  ArrowLeft: () => opened && opened.panel && stepCase(-1),
  Escape: () => {
    const name = opened && byId(`row-${opened.index}`)?.querySelector(".name");
    closeRow();
    if (name) name.focus();
  },
};

function stepCase(by) {
  const place = opened.place + by;
  if (opened.detail.cases[place]) showCase(place, true);
}

function onKey(event) {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (typing) {
    if (event.key === "Escape" && typing.id === "search") typing.blur();
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest(".box, summary")) return;
  if (Object.hasOwn(KEYS, event.key)) {
    if (event.key !== "Escape") event.preventDefault();
    KEYS[event.key]();
  }
}

function followHash() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (!asked.has("solution")) return Promise.resolve();
  return goTo(Number(asked.get("solution")), asked.has("case") ? Number(asked.get("case")) : -1);
}

async function start() {
  startTheme();
  drawHead();
  drawNotices();
  drawTiles();
  drawPlots();
  drawFolds();
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", onKey);
  try {
    await loadRows((share) => { byId("found").textContent = `Loading ${percent(share, 0)} …`; });
  } catch (error) {
    byId("found").replaceChildren(h("span", { class: "notice bad" }, error.message));
    return;
  }
  prepareTable();
  applyFilter();
  await followHash();
  addEventListener("hashchange", followHash);
  document.documentElement.dataset.ready = "yes";
}

start();
