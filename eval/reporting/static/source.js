// What a solution was made from: its program with coloured tokens, the response, the statement.

const TOKEN_KINDS = ["", "keyword", "name", "string", "number", "comment", "preprocessor"];

// The program as a fragment; `tokens` are pairs of a kind and a length (viewing/highlight.py).
function coloured(text, tokens) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (let at = 0; at < tokens.length && from < text.length; at += 2) {
    const kind = TOKEN_KINDS[tokens[at]];
    const part = visible(text.slice(from, from + tokens[at + 1]));
    fragment.append(kind ? h("span", { class: `t-${kind}` }, part) : part);
    from += tokens[at + 1];
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
  const { program, response, statement, tokens, cut } = source;
  const name = (title, key) => (cut?.includes(key) ? `${title}, its beginning` : title);
  const draw = tokens ? (part) => coloured(part, tokens) : visible;
  return [
    statement ? fold("Statement", () => boxOf("Statement", statement)) : null,
    response ? fold(name("Response", "response"), () => responseView(response)) : null,
    program ? fold(name("Program", "program"), () => boxOf("Program", program, draw), true) : null,
    source.named ? h("p", { class: "dim" }, "The line of the solutions file names the problem ", visible(source.named), ".") : null,
    ...(source.notes || []).map((note) => h("p", { class: "dim" }, visible(note))),
  ].filter(Boolean);
}

// {element, loaded}: a report has the texts inside, a view asks for them.
function sourcePart(index, detail) {
  const element = h("div");
  const show = (source) => { element.replaceChildren(...sourceParts(source)); return source; };
  if (!meta.view) {
    if (detail.source) show(detail.source);
    return { element, loaded: null };
  }
  const failed = (error) => show({ notes: [error.message] });
  return { element, loaded: ask("source", placeOf(index)).then(show).catch(failed) };
}
