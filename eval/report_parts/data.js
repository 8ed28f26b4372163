// The data: in the page while it is small, else in script files beside it, loaded when needed.

const DATA = "data-";
const meta = JSON.parse(byId(`${DATA}meta`).textContent);
const waiting = new Map();
const kept = new Map(); // parsed chunks, the latest used last
const KEPT_CHUNKS = 12;

const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("gradebox", { createScriptURL: (url) => url })
  : { createScriptURL: (url) => url };

window.gradeboxChunk = (name, token, text) => {
  const answer = waiting.get(name);
  if (answer) answer(token === meta.token ? JSON.parse(text) : null);
};

function chunk(name) {
  if (kept.has(name)) {
    const value = kept.get(name);
    kept.delete(name);
    kept.set(name, value);
    return value;
  }
  const value = byId(DATA + name)
    ? Promise.resolve(JSON.parse(byId(DATA + name).textContent))
    : loadFile(name);
  kept.set(name, value);
  if (kept.size > KEPT_CHUNKS) kept.delete(kept.keys().next().value);
  return value;
}

function loadFile(name) {
  return new Promise((resolve, reject) => {
    const file = `${meta.folder}/${name}.js`;
    const script = document.createElement("script");
    const done = (action, value) => { waiting.delete(name); script.remove(); action(value); };
    const fail = (why) => { kept.delete(name); done(reject, new Error(`${visibleString(file)} ${why}`)); };
    waiting.set(name, (value) => {
      if (value) done(resolve, value);
      else fail("belongs to another report: it was made anew, so load this page again");
    });
    script.addEventListener("error", () => fail(`can't be loaded: keep the folder ${visibleString(meta.folder)} beside this page`));
    script.src = policy.createScriptURL(file.split("/").map(encodeURIComponent).join("/"));
    document.head.append(script);
  });
}

// Rows are arrays; C.verdict is the place of the verdict in one, K.verdict in a case.
const places = (names) => Object.fromEntries(names.map((name, place) => [name, place]));
const C = places(meta.columns);
const K = places(meta.case_columns);
let rows = [];

async function loadRows(progress) {
  const parts = [];
  for (let number = 0; number < (meta.chunks.rows || 0); number += 1) {
    parts.push(await chunk(`rows-${number}`));
    kept.delete(`rows-${number}`);
    progress((number + 1) / meta.chunks.rows);
  }
  rows = parts.flat();
}

async function loadDetail(row) {
  const details = await chunk(`details-${row[C.chunk]}`);
  return details[row[C.place]];
}
