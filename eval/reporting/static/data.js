// The report's data: inside the page while it is small, else in script files beside it. A view
// has none: it asks its server (view.js).

const meta = JSON.parse(byId("data-meta").textContent);
const MAX_CACHED_CHUNKS = 12;
const pendingFiles = new Map(); // name -> function that takes the loaded data
const chunkCache = new Map(); // name -> data or a promise of it; the least recently used first

const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("gradebox", { createScriptURL: (url) => url })
  : { createScriptURL: (url) => url };

// Data files call this. A file of another report has another token.
window.gradeboxChunk = (name, token, text) => {
  const receive = pendingFiles.get(name);
  if (receive) receive(token === meta.token ? JSON.parse(text) : null);
};

function loadChunk(name) {
  const inline = byId(`data-${name}`);
  const data = chunkCache.get(name) || (inline ? JSON.parse(inline.textContent) : loadFile(name));
  chunkCache.delete(name); // inserted again as the most recently used
  chunkCache.set(name, data);
  if (chunkCache.size > MAX_CACHED_CHUNKS) chunkCache.delete(chunkCache.keys().next().value);
  return data;
}

function loadFile(name) {
  return new Promise((resolve, reject) => {
    const file = `${meta.folder}/${name}.js`;
    const script = document.createElement("script");
    const finish = (settle, value) => { pendingFiles.delete(name); script.remove(); settle(value); };
    const fail = (why) => { chunkCache.delete(name); finish(reject, new Error(`${visibleString(file)} ${why}`)); };
    pendingFiles.set(name, (data) => {
      if (data) finish(resolve, data);
      else fail("belongs to a newer report. Reload this page.");
    });
    script.addEventListener("error", () => fail(`can't be loaded. Keep the folder ${visibleString(meta.folder)} beside this page.`));
    script.src = policy.createScriptURL(file.split("/").map(encodeURIComponent).join("/"));
    document.head.append(script);
  });
}

// Rows and cases are arrays: row[C.verdict] is a row's verdict, item[K.verdict] a case's.
const indexByName = (names) => Object.fromEntries(names.map((name, index) => [name, index]));
const C = indexByName(meta.columns);
const K = indexByName(meta.case_columns);
let rows = [];

async function loadRows(onProgress) {
  const parts = [];
  for (let number = 0; number < (meta.chunks.rows || 0); number += 1) {
    parts.push(await loadChunk(`rows-${number}`));
    chunkCache.delete(`rows-${number}`);
    onProgress((number + 1) / meta.chunks.rows);
  }
  rows = parts.flat();
}

async function loadDetail(row, index) {
  if (meta.view) return ask("solution", placeOf(index));
  return (await loadChunk(`details-${row[C.chunk]}`))[row[C.place]];
}
