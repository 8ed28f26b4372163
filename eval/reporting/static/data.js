// What the page asks for: rows, the summary, one solution. A view asks its server, and again for
// what has changed since; a report has the answers inside, in compressed chunks.

const meta = JSON.parse(byId("data-meta").textContent);
const MAX_CACHED_CHUNKS = 12;
const chunkCache = new Map(); // name -> promise of its data; the least recently used first

// Rows and cases are arrays: row[C.verdict] is a row's verdict, item[K.verdict] a case's.
const indexByName = (names) => Object.fromEntries(names.map((name, index) => [name, index]));
const C = indexByName(meta.columns);
const K = indexByName(meta.case_columns);
let rows = [];

function unpacked(name) {
  const packed = Uint8Array.from(atob(byId(`data-${name}`).textContent), (char) => char.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function chunk(name) {
  const data = chunkCache.get(name) || unpacked(name);
  chunkCache.delete(name); // inserted again as the most recently used
  chunkCache.set(name, data);
  if (chunkCache.size > MAX_CACHED_CHUNKS) chunkCache.delete(chunkCache.keys().next().value);
  return data;
}

async function detailInside({ place }) {
  const number = meta.details.findLastIndex((first) => first <= place);
  return (await chunk(`details-${number}`))[place - meta.details[number]];
}

const INSIDE = {
  changes: async () => {
    const parts = await Promise.all(Array.from({ length: meta.rows }, (_, number) => unpacked(`rows-${number}`)));
    return { epoch: 1, change: 1, rows: parts.flat(), more: false, finished: true };
  },
  summary: () => meta.summary,
  solution: detailInside,
  source: async (query) => (await detailInside(query)).source || {},
};

const POLL_MS = { running: 1000, finished: 3000, offline: 3000 };
const SUMMARY_MS = 5000; // between two summaries of a run in progress

let taken = { epoch: 0, change: 0 }; // what the page has asked for so far
let shownEpoch = 0; // the epoch of `rows`; solutions of another one have other places
let summaryOf = ""; // the change that the drawn summary is of

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const placeOf = (index) => ({ epoch: shownEpoch, place: index });

// Return the JSON that the server answers; POST with a body. Throws Error with its message.
async function ask(name, query = {}, body = undefined) {
  if (!meta.view) return INSIDE[name](query);
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  let value;
  try {
    answer = await fetch(`${name}?${new URLSearchParams(query)}`, body === undefined ? {} : post);
    value = await answer.json();
  } catch {
    throw new Error("The view's server does not answer. Start it again, and open the address that it prints.");
  }
  if (!answer.ok) throw new Error(visibleString(value.message));
  return value;
}

async function watchRun() {
  if (meta.view?.runs > 1) document.querySelector(".tools").prepend(h("a", { href: "../../" }, "All runs"));
  byId("head").append(h("h1", {}, visible(meta.name)));
  let incoming = [];
  let lastSummary = -SUMMARY_MS;
  for (;;) {
    let answer;
    try {
      answer = await ask("changes", { epoch: taken.epoch, after: taken.change });
    } catch (error) {
      byId("found").replaceChildren(h("span", { class: "notice bad" }, error.message));
      await pause(POLL_MS.offline);
      continue;
    }
    if (answer.epoch !== taken.epoch) incoming = [];
    taken = { epoch: answer.epoch, change: answer.change };
    for (const [place, row] of answer.rows) incoming[place] = row;
    Object.assign(meta, { damaged: answer.damaged, why: answer.why });
    if (answer.more) {
      if (!document.documentElement.dataset.ready) byId("found").textContent = `Loading: ${count(incoming.length)} solutions …`;
    }
    if (!shownEpoch || answer.epoch === shownEpoch || !answer.more) await takeRows(incoming, answer);
    if (answer.more) continue;
    const now = `${answer.epoch} ${answer.change} ${answer.finished}`;
    if (now !== summaryOf && (answer.finished || performance.now() - lastSummary > SUMMARY_MS)) {
      lastSummary = performance.now();
      try { drawSummary(await ask("summary")); summaryOf = now; } catch (error) { byId("notices").replaceChildren(h("p", { class: "notice bad" }, error.message)); }
    }
    if (!document.documentElement.dataset.ready) {
      await openAddress();
      document.documentElement.dataset.ready = "yes";
      addEventListener("hashchange", openAddress);
    }
    if (!meta.view) return;
    await pause(answer.finished ? POLL_MS.finished : POLL_MS.running);
  }
}

const keyOf = (row) => JSON.stringify([row[C.problem], row[C.sample], row[C.solution]]);

// Show the rows of an answer. Those of another epoch replace all; the open solution is found again.
async function takeRows(incoming, answer) {
  if (answer.epoch === shownEpoch) {
    if (answer.rows.length) updateTable(answer.rows.map(([place]) => place));
    return;
  }
  const key = opened && keyOf(opened.row);
  const place = opened ? opened.place : -1;
  rows = incoming;
  shownEpoch = answer.epoch;
  opened = null;
  updateTable([]);
  const index = key ? rows.findIndex((row) => keyOf(row) === key) : -1;
  if (index >= 0) await goTo(index, place);
}
