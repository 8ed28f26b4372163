"""The phrases around answers, by what they tell: announced, denied, supposed, taken back, remarks.

A table has a phrase on each line, in this notation:

    blank     white space                   '      a straight or a curly apostrophe
    ...       the rest of a clause, short   #      a value: math, a number, a choice letter
    (a|b)?    as in regular expressions            +      continues the line before

Every repetition has a bound, so that a search needs time in proportion to the text.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.number_words import NUMBER_WORDS

VALUE = (
    r"(?:\$(?:(?!\\boxed)[^$]){1,200}\$|\\\((?:(?!\\boxed).){1,200}?\\\)"
    r"|[-−]?[$€£]?\d(?:[\d,./]{0,40}\d)?%?(?![\w^])|(?-i:\(?\b[A-HJ]\b\)?)(?!['’]))"
)
_NOTATION = (
    (" ", r"\s{1,9}"),
    ("...", r"(?:[^.!?\n]|\.(?=\d)){0,60}?"),
    ("'", "['’]"),
    ("#", VALUE),
)


def phrase(table: str) -> str:
    """Return the regular expression of a table of phrases."""
    table = re.sub(r"\n\s*\+ ", "", table.strip())
    lines = [line.strip() for line in table.splitlines()]
    out = "|".join(lines)
    for sign, pattern in _NOTATION:
        out = out.replace(sign, pattern)
    return f"(?:{out})"


def compiled(before: str, table: str = "", after: str = "", flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a table between two regular expressions; case does not count."""
    return re.compile(before + (phrase(table) if table else "") + after, re.I | flags)


# ---- announced ----

_OF = r"(?:\s{1,9}(?:to|for|of)\s{1,9}[^.:\n]{0,80}?)?(?:\s{1,9}\([^()\n]{1,40}\))?[\s*]{0,9}"
_IS = r"(?:is|are|was|should\s+be|must\s+be|equals|=|:|：|[-–—](?=\s))"
_ANNOUNCED = phrase(
    """
    ((final|correct|the) )?answers?
    (answer|correct) (option|choice)( letter)?
    the solution
    final (result|verdict|value)
    """
)
_LABELS = phrase(r"(\bans|(the|our) (result|value|total|output)|verdict|(agreed. )?submit)")
_ELSEWHERE = (  # `La réponse est 7`, `Die Antwort lautet 7`, `Ответ: 7`
    "(?:réponse|antwort|lösung|ergebnis|respuesta|solución|resultado|résultat|risposta|resposta"
    r"|ответ|答え|정답|답)(?:\s+(?:final[e]?|del?\s+\w+))?\s*"
    r"(?:est|ist|lautet|beträgt|es|è|é|は|은|는|[:：=—-])\s*[:：]?\s*(?:(?:donc|also|entonces)\s+)?"
)
_CHINESE = (
    r"的?值[为是]|所求[^，。；：$\d\n]{0,12}[为是]|答案\s*(?:应该|应)?\s*(?:是|为|：|:)\s*[：:]?"
    r"|答\s*[：:]|[故应]选(?!项)\s*[：:]?|选项\s*(?:应该|应)?\s*[是为]\s*[：:]?\s*(?=[(（]?[A-J])"
    r"|(?<!不)选(?:择)?\s*[：:]?\s*(?=\**[A-J](?![A-Za-z项选]))"
)
_LINE = (  # `A: 36`, `Output: 42`, `### Final Answer` on a line of its own
    r"^(?:[#*_ \t]{0,20}(?:final\s+answer|answer)[#*_ \t]{0,20}\n\s{0,9}(?=\S)"
    r"|[>*# \t]{0,20}(?:final\s+)?answers?\.[* \t]{1,9}(?=\S)"
    r"|[>* \t]{0,20}(?:(?:A|Ans|Output|Result)\b[.* \t]{0,9}[:：](?!\s{0,9}[A-Z]\s{0,9}[=:])|Ans\.)"
    r"[* \t]{0,9}(?=\S))"
)
ANNOUNCED = re.compile(
    rf"{_LINE}|(?:{_ANNOUNCED}{_OF}{_IS}|{_LABELS}[\s*]{{0,3}}[:：=-])[\s*]{{0,9}}:?\s{{0,9}}"
    rf"|{_ELSEWHERE}|(?:{_CHINESE})\s{{0,9}}|agreed[.,:]?\s{{1,9}}submit\s{{1,9}}",
    re.I | re.M,
)
HASHES = re.compile(r"####\s*(.{1,4000})")
OUR_ANSWER = compiled(  # `$6$ is our answer`, `Option (D) is the correct answer`
    r"(?:(?:^|[\s,])(\$[^$]{1,200}\$|\\\(.{1,200}?\\\)|-?[\d.,/]{0,40}\d)"
    r"|(?:option|choice)\s{1,9}(\(?[A-J]\)?))",
    "( is)( therefore)? (our|the)( (final|correct|right|best))? (answer|option|choice)",
)
MARKED_WORD = re.compile(  # `\text{Answer: }64`
    r"(?<!\{)\\(?:text(?:bf|it)?|mathbf|mathrm)\s*\{\s*"
    r"((?:the\s+)?(?:final\s+)?answer\s{0,9}(?:is|=|:)?)\s{0,9}:?\s{0,9}\}(\s{0,9}:)?",
    re.I,
)
CLOSING_PHRASE = re.compile(r"\.?\s{0,9}I hope (?:it|this) is correct\.?.*$", re.I | re.S)
SELF_CHECK = compiled(  # `This answer is correct.`: said of an answer, not one
    r"\W*(?:\w+ly\s+)?",
    "(in)?(correct|consistent|accurate|valid|complete|right|wrong|verified|confirmed|reasonable)",
)
DOUBTED = compiled(  # before an announcement
    "",
    r"""
    \b(thought|initially|previously|guess(ed)?|assumed|would have)\b...$
    \b(suppos(e|ing)|assum(e|ing)|whether|if|unless|imagine|check|verify|test)( that)?( the)? $
    """,
)

# ---- denied ----

_FILLER = phrase(
    "((be|equals?|to|exactly|simply|just|the|answer|is|a|number|value|solution|that|:) )"
)
_MODAL = r"(?:is|are|was|does|do|can|could|will|would|should)"
DENIED_BEFORE = re.compile(  # `is not 12`, `cannot be 12 but 13`
    rf"(?:,?\s{{1,9}}(?:and\s{{1,9}})?)?(?:\b{_MODAL}\s{{1,9}})?(?:\b(?:definitely|clearly)\s{{1,9}})?"
    r"(?:\b(?:not|never|cannot|neither|no\s+es|close\s+to|nearly|almost|just\s+(?:under|over))"
    rf"|\b\w+n['’]t|而不是)\s{{0,9}}(?<=[\s是]){_FILLER}{{0,8}}\**{VALUE}\**"
    rf"(?:\s{{0,9}},\s{{0,9}}{VALUE}){{0,9}}(?:\s{{0,9}},?\s{{0,9}}(?:nor|or)\s{{1,9}}{VALUE}){{0,9}}"
    r"(?P<but>\s{0,9},?\s{0,9}(?:but|sino)\s{1,9}(?:(?:rather|instead)\s{1,9})?(?=[-$\\\d*A-J]))?",
    re.I,
)
_CLAIM = "( (the|our|a))?( (correct|right|final|valid|possible))?( (answer|solution|value|option))?"
DENIED_AFTER = compiled(  # `12 is wrong`
    r"(?<![\w$^{])",
    f"""
    # (is|was|would be)( (definitely|certainly|clearly))? (not|never){_CLAIM}
    # (isn't|wasn't|cannot be|can't be){_CLAIM}
    # (is|was|would be) (wrong|incorrect|false|impossible|my guess|not enough|(still )?too [a-z]+)
    # (is|was|would be)( (only|just))? an? (lower|upper) bound
    """,
    r"(?=\s{0,9}(?:[.,;:!]|$|\n|because|since|as\b))",
)
_REJECTED = phrase(
    """
    (an? )?(rejected|extraneous|discarded|excluded|inadmissible|invalid|impossible|ruled out)
    not (valid|possible|allowed|admissible)
    """
)
DENIED_MARK = compiled(r"(?:[a-z]\s=\s)?", rf"# \(((is|to be) )?{_REJECTED}\)")  # `5 (rejected)`
ANY_DENIAL = re.compile(
    r"not|no es|不是|n['’]t|never|neither|wrong|incorrect|false|impossible|bound|too"
    r"|close|nearly|almost|just|reject|extraneous|discarded|invalid",
    re.I,
)
NOT_DENIED = re.compile(  # `all reals not equal to 2`, `true or false`
    r"\b(?:all|any|every|each|if\s+and\s+only|such\s+that)\b[^.]{0,60}$", re.I
)
NUMBER = r"[-−]?\d{1,12}(?:[./]\d{1,12})?"
_ONE = rf"(?P<value>\$[^$\n]{{1,60}}\$|\\\([^\n]{{1,60}}?\\\)|(?:[a-z]\s?=\s?)?{NUMBER})"
REJECTED = compiled(  # a value among alternatives
    r"\b(?:reject|discard|exclud|eliminat|ignor|disregard|rule\s+out)(?:e|ing)?(?:\s+[a-z]+){0,3}\s+"
    rf"{_ONE}|{_ONE.replace('value', 'other')}",
    f" (is|must be|can be|gets?)( an?)? {_REJECTED}| (fails|(doesn't|does not) (work|satisfy|fit))",
)

# ---- supposed, recalled, corrected, refused ----

SUPPOSED = compiled(
    r"(?:^|(?<=[.!?\n])\s{0,9})",
    r"""
    ((first|next|now|then|so),? )?((we|i|let us|let me|let's) )?(can )?
    + (suppose|assume|imagine|try|consider|guess|test)
    ((any|some)(one|body) (who|might)|one might|a careless|students (often|might|may))
    a common (mistake|error|slip)
    if [^.!?\n,]{1,30} (were|was)\b
    """,
    r"(?![^.!?\n]{0,300}\b(?:so|then|thus|hence|therefore|gives?|get|yields?)\b)"
    r"(?:[^.!?\n]|\.(?=\d)){0,300}(?:[.!?\n]|$)",
)
ASKED = re.compile(  # the whole text
    r"(?:(?:so|but),?\s+)?(?:is|are|was|could|can|does|do|would|should|might|what|how|which)\b"
    r"[^.!?\n]{0,200}\?\s*$",
    re.I,
)
RECALLED = compiled(  # up to the word that takes it back
    "",
    r"""
    \b(i|we|you|one|someone|people|students|many)( [a-z]+){0,2}
    +  (think|guess|assume|expect|believe|say|tempted)\b
    \b(i|we|you|one|someone|people|students|many)( [a-z]+){0,2}
    +  (thought|guessed|assumed|expected|believed|suspected|said|answered)\b
    \b(my|our|the|an?)( [a-z]+)? (guess|thought|answer|estimate|attempt|reaction|intuition)
    +  (was|(would|might) (be|have been))\b
    \b(at first|initially|originally|naively|it (seems|looks|appears|is tempting))
    """,
    r"(?:[^.!?\n]|\.(?=\d)){0,120}?\d(?:[^.!?\n]|\.(?=\d)){0,60}?[,;.]?\s{1,9}"
    r"(?:but|however|yet|though|instead|until)\b,?(?=[^.!?\n]{0,300}(?:\d|\$|\\))",
)
MAYBE = compiled(  # at the end
    "",
    r"""
    \b(maybe|perhaps|possibly|probably|not( (really|entirely))? (sure|certain)|no idea)\b
    + [^.!?\n]{0,300}\?
    \b(not( (really|entirely))? sure|no idea|don't know|do not know)\b[^.!?\n]{0,300}
    + \b(maybe|perhaps|possibly)\b[^.!?\n]{0,300}[.!?]?
    (^|[.!?\n]\s{0,9})(maybe|perhaps|possibly) \S+[.!?]?
    """,
    r"\s{0,9}$",
)
_CANNOT = phrase(
    "(can't|cannot|couldn't|could not|unable to|not able to|won't|(impossible|not possible) to)"
)
UNDECIDED = compiled(
    rf"\b(?:{_CANNOT}|",
    "(do not|don't) know|not (sure|certain)",
    r")\b[^.!?\n]{0,60}\b(?:whether|if)\b",
)
REFUSED = compiled(  # at the end
    rf"{_CANNOT}\s{{1,9}}",
    r"""
    (be )?(\w+ ){0,2}?(give|provide|offer|state|determine|reach|produce|find|conclude|decide)d?\b
    + [^.!?\n]{0,80}[.!?]?
    """,
    r"\s{0,9}$",
)
NON_ANSWER = compiled(  # in place of an answer
    r"(?<![A-Za-z])",
    r"""
    (cannot|can't|could not|impossible to|unable to|not possible to) (be )?
    + (determine|answer|calculate|find|solve|compute|conclude)d?
    (insufficient|incomplete|(not|not give|n't give) enough) (information|data|context)
    none of the (above|given|options|choices|answers)
    not (listed|provided)
    """,
    r"|无法|无正确|(?:都|均)不正确|信息不足|数据有误|没有正确",
)
CORRECTION = compiled(  # `Wait, it is 13.`, `but it is actually 84`
    "",
    r"""
    \b(wait|sorry|oops|hmm|correction)\b...\b(it's|it is|it (must|should) be|should be)
    \b(it's|it is) actually
    \bactually,? (it's|it is)
    """,
    rf"\s{{1,9}}(?P<value>{VALUE}(?!\w))",
)
ASKED_AFTER = re.compile(r"[\s$)*]*\?")  # `The answer is 3? Let me check`
BROKEN_OFF = re.compile(  # `+2... but`: the value before it is given up
    r"(?<=[\w$)}\]])(?:\.{3,4}|…)\s{0,9}"
    r"(?=(?:so|but|however|anyway|actually|no)\b(?!\s+on\b)[^…]{0,300}\d)",
    re.I,
)

# ---- remarks behind the answer ----

CHECK = compiled(  # the start of a sentence
    "",
    r"""
    indeed\b(?!.*\bso\b)
    both check\b
    (for|with|at|when) \$?[a-z]\s?=\s?\d+\$?,? (this|it|the formula) (gives?|is)\b
    + .*\b(match|agree|check)
    ((and|now|finally|quick|sanity),? ){0,2}
    + ((we|i|you) ((can|may|will) )?|let's |let (us|me) |to )?((also|quickly|now) )?
    + (verify|check(ing)?|confirm|verification|verifying|double[\s-]check|sanity|proof
    + |numerically|on the number line|it is [a-z]+ (to )?(check|verif|seen))
    + (?!.*(\b(find|only|conclude)\b|, so \$))
    """,
)
REMARK = compiled(  # the start of the last sentence
    r"\W*",
    """
    note( that)?
    (alternatively|more generally|remark|for example|another way|this also follows)
    equality (is|holds|occurs)
    """,
    r"\b(?!.*\b(?:so|thus|hence|therefore|total)\b)",
)
CONCLUDES = compiled(
    r"\W*",
    r"""
    (so|thus|hence|therefore|consequently|then|we (get|conclude)|the)\b
    .*, (so|thus|hence|therefore)\b
    """,
)
EXPLANATION = re.compile(  # after an answer that comes first
    r"(\S[^\n]{0,160}?)[.!]?\s{1,9}(?:Explanation|Reason(?:ing)?:|Proof|Here(?:['’]s|\s+is)\s+why"
    r"|To\s+see\s+(?:this|why)|The\s+reason\s+is|This\s+is\s+because)\b"
)
END_OF_PROOF = re.compile(  # `∎`, `QED`, `This completes the proof.`, `[Source: AIME]`
    r"(?:\s{0,9}(?:\$?\s?\\(?:blacksquare|square|qed|Box)\s?\$?|\bQ\.?E\.?D\.?(?!\w)"
    r"|\[Source:[^\]\n]{0,200}\]|(?:This|which)\s+(?:completes|concludes)\s+the\s+(?:proof|solution)"
    r"\.?)){1,9}\s{0,9}$"
)
TRAILING = compiled(  # behind an answer, in its own sentence
    "",
    r"""
    ,?( which (is|are))? (attained|achieved|reached|obtained|with equality) .*$
    ,? (since|because|rather than|instead of|no matter|regardless of|independent(ly)? of) .*$
    ,( and)? not .*$
    , (but|although|though|however|including|excluding|with|where|whose|e\.g\.) .*$
    , (while|whereas|as) its .*$
    , as (?!(is|are|well|follows)\b)[^,;]{0,200}\b(is|are|was|were|has|have|equals|add|sum)\b[^,;]*$
    [;,] (indeed|in particular|note that|equality)\b.*$
    [;,]( while)? (the|its) other\b.*\b(rejected|discarded|extraneous|invalid|ignored|impossible)$
    , which (is an?|scales|occurs|happens|follows|tends|grows)\b.*$
    ,?( and)? (substituting|checking|plugging|verifying)\b.*$
    ,? as (required|claimed|desired|expected|wanted|needed|stated|we wanted|was to be shown)$
    ,? as (my|our) (final )?answer$
    ,? as the (smallest|largest|least|greatest|only|unique|minimum|maximum)\b.*$
    ,? as the (final|required|desired|correct|possible)\b.*$
    (,? (valid )?(for|when|at|if|where|provided( that)?) (?!.*\b(is|are|equals|gives?|get)\b)
    + \$?[a-z]\s?(=|\\neq?(?![a-z])|≠|!=)[^,=]{1,40}(,[^,=]{1,12}=[^,]*){0,3})$
    ,? for (every|all|each|any) [a-z ]{0,30}\$?[a-z]\$?$
    ,? when( it is)? ([a-z]+ (is|was|are|were)|divided by)\b.*$
    ,? for [$€£]?[\d.]+ (each|apiece|(second|minute|hour|day|week|month|year)s?)$
    (?<=[\d$)}%]) of (the|his|her|its|their|all) [a-z ]+$
    (?<=%) (off|more|less) .*$
    , \w+ in total$
    """,
    r"|，\s*(?:而)?其(?!中).*$",
    re.S,
)
_ANSWER = re.compile(
    rf"[\d\\$]|\b(?:{'|'.join(NUMBER_WORDS)})\b|^\W*(?:(?:option|choice)\s+\W?)?[A-J]\W*$"
)
# `5 when n = 1 and 3 when n = 2`; `9, and so 3`
_CASES = re.compile(r"\b(?:if\b.*\bif|otherwise|respectively|when\b.*\bwhen)\b", re.I | re.S)
_CONCLUDED = re.compile(r"(?:,\s+|\b(?:and|but)\s+)(?:so|hence|thus|therefore)\s.*\d", re.S)
_ASIDE = re.compile(  # ` (so $x = 3$)`, ` ($x \\ne 0$)`
    r"(?<=[\w$)}%])\s+\((?:(?:so|since|as|because|where|i\.e\.|check|with|for|when)\b"
    r"|\$?[a-z]\s*(?:\\neq?(?![a-z])|≠|!=))[^()]*(?:\([^()]*\)[^()]*)*\)$"
)
_PARENTHESES = re.compile(  # ` (8 rows of 8)`
    r"(?<=[\w$)}%]) [(\[](?!mod)([^()\[\]$\\]{3,200}"
    r"|(?=[^()]*[a-z]{3,} [^()]*[a-z]{3,} |(?!base\b)[a-z]{2,}\s)[^()]{3,200})[)\]]$"
)
_EMPTY = re.compile(r"(?<=[\d$)}]) [(\[]\s*(?:so|and|but|or)?\s*[)\]]")  # left of `24 (not 42)`
_CUT_AFTER = re.compile(
    r"(?:^|[.!?]\s+|\n)(?:Then|So|Therefore|Thus|Hence|Now|Next|Let|Suppose)[,:]?$"
)
_CUT = re.compile(  # a response that ends within a sentence
    r"(?:[A-Za-z]{2,},?|[)\]}$])\s+(?:the|an?|of|and|or|that|where|which|with|to|for|is|are|was|gets"
    r"|get|we|then|so|because|if|in|by|each|those|these|there|this|it|from|as|at|on|let|have|has)$"
    r"|\w\s*(?:[-+*/×÷=&]|\\(?:times|cdot|frac|sqrt))\s*$"
)
_PROSE_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{3,}(?!\w)")
MIN_CUT_WORDS = 8
MAX_SENTENCE = 300  # characters of a sentence that rejects


def without_denied(text: str) -> str:
    """Return a text without the numbers, math and choices that it denies."""
    if ANY_DENIAL.search(text) is None:
        return text

    def cut(m: re.Match[str]) -> str:
        if NOT_DENIED.search(text[max(0, m.start() - 80) : m.start()]):
            return m[0]
        return " is " if m.re is DENIED_BEFORE and m["but"] else " "

    for pattern in (DENIED_MARK, DENIED_BEFORE, DENIED_AFTER):
        text = pattern.sub(cut, text)
    return _EMPTY.sub("", text)


def without_rejected(text: str) -> str:
    """Return `x = 6` for *x = 6 or x = -2. We reject -2*, where no number follows."""
    found = max(REJECTED.finditer(text), key=re.Match.end, default=None)
    if found is None or re.search(r"\d|[.!?]\s+\S", text[found.end() :]):
        return text
    number = re.search(NUMBER, found["value"] or found["other"])
    value = rf"\$?(?:[a-z]\s*=\s*)?{re.escape(number[0]) if number else '(?!)'}\$?"
    joint = r"\s*(?:,\s*)?(?:\bor\b|\band\b|,)\s*"
    before = re.sub(r"\b[Ee]ither\s", "", text[: found.start()])
    return re.sub(rf"{joint}{value}(?![\w.]\w)|{value}{joint}", " ", before)


def without_supposed(text: str) -> str:
    """Return a text without the sentences that only suppose."""
    return SUPPOSED.sub(" ", text).strip()


def is_only_supposed(text: str) -> bool:
    """Return whether a text only asks, or ends with a guess or undecided."""
    last = text.rstrip().rpartition("\n")[2][-300:]
    return bool(ASKED.fullmatch(text) or UNDECIDED.search(last) or MAYBE.search(last))


def after_break(text: str) -> str:
    """Return what follows the value that a text breaks off: `+2... but it is +1`."""
    breaks = list(BROKEN_OFF.finditer(text))
    return text[breaks[-1].end() :] if breaks else text


def is_cut(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence, before its answer."""
    if _CUT_AFTER.search(text):
        return True
    if len(text.split()) < MIN_CUT_WORDS or _CUT.search(text) is None:
        return False
    return len(_PROSE_WORD.findall(text)) >= MIN_CUT_WORDS // 2


def without_trailing(text: str) -> str:
    """Return `\\sqrt{2}` for `\\sqrt{2}, attained when a=b`, and `9` for `9, not 11`.

    An answer with several cases (`5 when n = 1 and 3 when n = 2`) stays whole.
    """
    text = _ASIDE.sub("", text)
    m = _PARENTHESES.search(text)
    if m and re.search(r"[a-z]{2}[ :]", m[1]):
        text = text[: m.start()]
    m = TRAILING.search(text)
    if m is None or _CONCLUDED.search(m[0]) or _CASES.search(text):
        return text
    return text[: m.start()] if _ANSWER.search(text[: m.start()]) else text
