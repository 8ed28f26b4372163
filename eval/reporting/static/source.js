// What a solution was made from: its program with coloured tokens, the response, the statement.

const KEYWORDS = "and|as|async|auto|await|bool|boolean|break|byte|case|catch|char|class|const|continue|def|default|del|do|double|elif|else|enum|except|false|False|final|finally|float|fn|for|foreach|from|fun|func|function|global|go|goto|if|impl|import|in|int|interface|is|lambda|let|long|match|mod|mut|namespace|new|nil|None|nonlocal|not|null|nullptr|operator|or|package|pass|private|protected|pub|public|raise|return|self|short|signed|sizeof|static|str|string|struct|super|switch|template|this|throw|true|True|try|type|typedef|typename|unsigned|use|using|val|var|vector|virtual|void|where|while|with|yield";

// The pattern of a language's tokens. A closing mark may be missing, so it takes linear time.
function tokenPattern(language) {
  const hash = ["python", "pypy3", "ruby"].includes(language);
  const quotes = language === "rust" ? '"' : '"\'`'; // 'a is a lifetime
  return new RegExp([
    hash ? String.raw`(?<comment>#.*)` : String.raw`(?<comment>//.*|/\*[^]*?(?:\*/|(?![^])))|(?<preprocessor>^[ \t]*#.*)`,
    `(?<string>"""[^]*?(?:"""|(?![^]))|${[...quotes].map((q) => String.raw`${q}(?:\\.|[^${q}\\\n])*${q}?`).join("|")})`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${KEYWORDS})\b)`,
  ].join("|"), "gm");
}

// The program as a fragment in which the tokens have colours.
function coloured(text, language) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(tokenPattern(language))) {
    const [kind] = Object.entries(match.groups).find(([, token]) => token !== undefined);
    fragment.append(visible(text.slice(from, match.index)), h("span", { class: `t-${kind}` }, visible(match[0])));
    from = match.index + match[0].length;
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
  const { program, response, statement, language, cut } = source;
  const name = (title, key) => (cut?.includes(key) ? `${title}, its beginning` : title);
  const draw = (part) => coloured(part, language);
  return [
    statement ? fold("Statement", () => boxOf("Statement", statement)) : null,
    response ? fold(name("Response", "response"), () => responseView(response)) : null,
    program ? fold(name("Program", "program"), () => boxOf("Program", program, draw), true) : null,
    source.named ? h("p", { class: "dim" }, "The line of the solutions file names the problem ", visible(source.named), ".") : null,
    ...(source.notes || []).map((note) => h("p", { class: "dim" }, visible(note))),
  ].filter(Boolean);
}

// {element, loaded}: where the texts are shown, and a promise of them.
function sourcePart(index) {
  const element = h("div");
  const show = (source) => { element.replaceChildren(...sourceParts(source)); return source; };
  const failed = (error) => show({ notes: [error.message] });
  return { element, loaded: ask("source", placeOf(index)).then(show).catch(failed) };
}
