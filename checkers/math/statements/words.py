"""Compare answers in words by one canonical form.

    it is perpendicular, at right angles, orthogonal    perpendicular
    the first player has a winning strategy, Player 1   first player
    No, it is impossible                                no
    third quadrant, Quadrant III, Q3                    3 quadrant
    Bob and Alice                                       alice, bob

The steps: subject and verb are removed, _PHRASES and _WORDS replace what has synonyms, articles
and prepositions in front are removed, lists and adjectives are sorted.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.number_words import NUMBER_WORDS
from gradebox.checkers.math.normalise.tables import strip_marks, word_list

MAX_CHARS = 200
_SUBJECT = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then|yes|conclusion)[,:]?\s+)?(?:(?:it|they|this"
    r"|that|he|she|these|we|you|both)(?:'s|\s+(?:is|was|are|were|will\s+be|has|have|must\s+be"
    r"|would\s+be))"
    r"|(?:the|its|their|this|these|given|both|all|our)(?:\s+(?!is\b|are\b|was\b|no\b"
    r"|not\b)[a-z]+){1,4}?\s+(?:is|are|was|were|has|have|will\s+be|must\s+be)"
    r"|[fgh](?:\s?\(x\))?\s+is|[a-z]{2,4}\s+is(?=\s+an?\s)"
    r"|(?:the\s+)?(?:given\s+)?(?:series|sequence|integral|limit|function)(?=\s+(?:con"
    r"|di)verge|\s+abs|\s+cond)|it(?=\s+(?:con|di)verge|\s+does|\s+can))\s+",
    re.I,
)
_ARTICLE = re.compile(r"^(?:(?:on|in|at|by|due|to|an?|the|some|of)\s+)+(?=\w)")
_EXIST = (
    r"(?:\s+(?:that\s+)?(?:exists?|works?|satisf(?:y|ies)\b.*|can\s+be\s+found"
    r"|is\s+possible|are\s+possible))?"
)
_NOUN = (
    r"(?:solutions?|integers?|numbers?|values?|pairs?|triples?|tuples?|quadruples?"
    r"|functions?|polynomials?|n|primes?|roots?|sequences?"
    r"|sets?|points?|triangles?|matrix|matrices|one|such\s+\w+)"
)
# what is written → its canonical form; the first that fits the whole text counts
_PHRASES = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"(?:yes|true|correct|right|valid|possible|(?:is\s+)?(?:true|correct)|certainly"
         r"|always(?=\s+true)\s+true|holds|it\s+does|it\s+can(?:\s+be\s+done)?"
         r"|the\s+(?:statement|claim)\s+holds)", "yes"),
        (r"(?:no|false|incorrect|wrong|invalid|impossible|not\s+(?:true|correct|possible"
         r"|valid|always|necessarily(?:\s+true)?)|(?:it\s+)?can(?:not"
         r"|'t)(?:\s+be\s+done)?|it\s+does\s*(?:not|n't)|(?:does|do)\s*(?:not|n't)\s+hold)", "no"),
        (rf"(?:none|(?:there\s+(?:is|are|exists?)\s+)?no\s+(?:(?:such|real|integer"
         rf"|integral|rational|positive|natural|other|possible)\s+)*{_NOUN}{_EXIST}"
         r"|(?:there\s+(?:is|are)\s+)?none(?:\s+exists?)?"
         r"|such\s+(?:an?\s+)?\$?\w+\$?\s+do(?:es)?\s+not\s+exist|no\s+solutions?|nothing"
         r"|(?:the\s+)?(?:empty\s+set|solution\s+set\s+is\s+empty)|does\s+not\s+exist|dne)",
         "no solution"),
        (rf"(?:there\s+(?:is|are)\s+)?(?:an?\s+)?infinite(?:ly\s+many|\s+number\s+of"
         rf"|\s+number)?(?:\s+{_NOUN})?|infinity", "infinity"),
        (r"(?:the\s+)?(?:first\s+player|player\s+(?:1|one|a)|player\s+who\s+(?:goes|moves"
         r"|plays|starts)(?:\s+first)?|starting\s+player|first)", "first player"),
        (r"(?:the\s+)?(?:second\s+player|player\s+(?:2|two|b)|player\s+who\s+(?:goes"
         r"|moves|plays)\s+second|second)", "second player"),
        (r"(?:all|any|every)\s+(?:reals|real\s+(?:numbers?|values?)|(?:real\s+)?(?:[a-hp-z]"
         r"|(?:values?|numbers?)\s+(?:of|for)\s+[a-z]|k(?=\s+w)))(?:\s+(?:will\s+)?works?)?",
         "all reals"),
        (r"once|(?:1|one)\s+times?", "1"),
        (r"twice|(?:2|two)\s+times", "2"),
        (r"thrice|(?:3|three)\s+times", "3"),
        (r"diverges?\s+to\s+(?:positive\s+)?infinity", "infinity"),
        (r"(?:does\s+not|doesn't)\s+converge|not\s+convergent|diverge(?:s|nt"
         r"|nce)?(?:\s+to\s+infinity)?", "diverge"),
        (r"(?:does\s+not|doesn't)\s+diverge|converge(?:s|nt|nce)?", "converge"),
        (r"(?:neither(?:\s+[a-z ]+\s+nor\s+[a-z ]+)?|not\s+even\s+(?:and"
         r"|or)\s+not\s+odd)", "neither"),
    )
)  # fmt: skip
_WORDS = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), form)
    for form, pattern in (
        ("perpendicular", r"orthogonal|at\s+right\s+angles(?:\s+to\s+each\s+other)?"
                          r"|mutually\s+perpendicular"),
        ("counterclockwise", r"anti\s?clockwise|counter\s+clockwise"),
        ("clockwise", r"clockwise\s+direction"),
        ("north east", r"north\s?east(?:ern|ward)?|ne"),
        ("north west", r"north\s?west(?:ern|ward)?|nw"),
        ("south east", r"south\s?east(?:ern|ward)?|se"),
        ("south west", r"south\s?west(?:ern|ward)?|sw"),
        ("north", r"northern|northward"), ("south", r"southern|southward"),
        ("east", r"eastern|eastward"), ("west", r"western|westward"),
        ("right", r"right\s?angled"), ("equilateral", r"regular\s+triangle"),
        ("conditionally converge", r"(?:converges?\s+conditionally"
                                   r"|conditional(?:ly)?\s+converge(?:nce|nt|s))"),
        ("absolutely converge", r"(?:converges?\s+absolutely"
                                r"|absolute(?:ly)?\s+converge(?:nce|nt|s))"),
        ("increasing", r"(?:strictly|monotonically|always)\s+increasing"
                       r"|monotone\s+increasing|monotonic\s+increasing|increases"),
        ("decreasing", r"(?:strictly|monotonically|always)\s+decreasing"
                       r"|monotone\s+decreasing|monotonic\s+decreasing|decreases"),
        ("prime", r"prime\s+number"), ("composite", r"composite\s+number"),
        ("irrational", r"irrational\s+number|not\s+rational"), ("rational", r"rational\s+number"),
        ("all", r"every|any|each"), ("undefined", r"not\s+defined"),
        ("equal", r"same|identical|the\s+same"),
        ("dependent", r"linearly\s+dependent|not\s+(?:linearly\s+)?independent"),
        ("independent", r"linearly\s+independent|not\s+(?:linearly\s+)?dependent"),
        ("singular", r"(?:not\s+|non-?)(?:invertible|singular(?=$)\b.)|noninvertible"),
        ("invertible", r"non-?\s?singular|not\s+singular"),
        ("null hypothesis", r"h_?\{?0\}?"),
    )
)  # fmt: skip
_WINS = re.compile(
    r"\s(?:(?:can|will|must|should|does)\s)?(?:always\s)?(?:wins?|has\s(?:a\s"
    r"|the\s)?winning\sstrategy)(?:\sthe\sgame)?$"
)
_CLASS = re.compile(
    r"^([a-z]*(?:al|ar|es|id|ven|odd|ute|ght|use|ed|ic|ous|ing|ndicular"
    r"|dent))\s(?:triangle|function|curve|lines?|matrix|vectors?|relation|events?)$"
)
_NOUN_OF_CLASS = re.compile(r"\s(?:triangle|quadrilateral|matrix|function|sequence|series)$")
_DETAIL = re.compile(
    r"(?<=[a-z])[,;]?\s(?:centere?d|with|whose|having|of\sradius|passing|opening|because|since"
    r"|by\sthe\s[a-z ]+test|at\s\(|in\sthe\splane)(?:\s.*|\b.*)?$"
)
_PREDICATE = re.compile(
    r".*\b(?:is|are|was|were|be|but)\s+(?:rather\s+)?(?:an?\s+|the\s+)?(.{2,40})$"
)
_CONDITION = re.compile(r"\b(?:an?|the)\s+|\s+condition$")
_QUOTES = " .!\"'“”"
_BEFORE = re.compile(  # what a sentence ends with is its answer
    r"\b(?:is|are|was|be|becomes?|represents?|describes?|shows?|means|word|graph|equation\s+of|called"
    r"|series|integral|sequence|it|they|both|letters?|named?)\s+(?:an?\s+|the\s+)?[\"'“]?$"
)
_DENIED = re.compile(
    r"n['’]t\b|\b(?:not?|never|neither|nor|cannot|fails?|unless|if|whether|than|rather|except|instead"
    r"|when(?:ever)?|where(?:as)?|while|provided|false|wrong|incorrect|opposite|impossible|would|might|could|suppose|assume|try|either)\b"
)
_CLAUSE_AFTER = re.compile(r"\s(?:where|while|whereas)\s.*$")
_ONLY_IF = re.compile(r"\s(?:when|whenever|if|unless)\s")
_YES_NO = re.compile(r"(yes|no|true|false)[,;:.]\s")
_SEPARATOR = re.compile(r"\s*(?:,\s*and|,|;|\band\b|&)\s*")
_PREPOSITION = re.compile(r"^(?:in|on|at|by|due)\s+(?:the\s+|an?\s+)?")
_ROOTS = re.compile(r"^(?:two|2)\s(?=.*\b(?:roots|solutions)$)|\s(?:roots|solutions)$")
_ORDINALS = word_list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ROMAN = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_ROMAN_LETTERS = {"i": 1, "v": 5, "x": 10}
_DAYS = word_list("monday tuesday wednesday thursday friday saturday sunday")
_MONTHS = word_list(
    "january february march april may june july august september october november december"
)
_SHORT_NAMES = (
    {  # "thurs" → "thursday"
        name[:length]: name
        for names, lengths in ((_DAYS, (3, 4, 5)), (_MONTHS, (3, 4)))
        for name in names
        for length in lengths
        if length < len(name) and name[:length] not in ("marc", "sun")
    }
    | {"sun": "sunday"}
)


_WORDED = re.compile(r"[A-Za-z0-9 ,.;:'-]*[A-Za-z]{3}[A-Za-z0-9 ,.;:'-]*")
_MIXED_CASE_UNIT = re.compile(r"\d\s*(?:[a-z]+[A-Z]|[A-Z]+[a-z])[A-Za-z]{0,2}\s*$")  # `5 MPa`
_NO = re.compile(r"\W*no\W*", re.I)
_CONVERGES_SOMEHOW = re.compile("(?:absolutely|conditionally|uniformly) converge")
_TRUTH = {"t": "yes", "f": "no"}


def is_worded(text: str) -> bool:
    """Return whether a text is words with at most one number, without math."""
    plain = re.sub(r"(?<![A-Za-z])([a-z])\s?\([a-z]\)", r"\1", strip_marks(text))
    if _MIXED_CASE_UNIT.search(plain):
        return False
    worded = len(text) <= MAX_CHARS and (_WORDED.fullmatch(plain) or _NO.fullmatch(plain))
    return bool(worded) and len(re.findall(r"\d+", plain)) < 2


def same_words(gold: str, answer: str) -> bool:
    """Return whether two answers in lower case say the same by the rules of this module."""
    if gold == answer:
        return True
    for one, other in ((gold, answer), (answer, gold)):
        said = _YES_NO.match(other)
        if said and canonical(one) == canonical(said[1]):
            return True
        if _TRUTH.get(other) == one:
            return True
    left, right = canonical(gold), canonical(answer)
    if left == "converge" and _CONVERGES_SOMEHOW.fullmatch(right):
        return True
    right_forms = (right, canonical(_predicate(answer)), _DETAIL.sub("", right))
    if left and (left in right_forms or _DETAIL.sub("", left) == right):
        return True
    return _same_items(left, right) or same_numbering(gold, answer)


def _same_items(left: str, right: str) -> bool:
    """Return whether lists, or the adjectives `real and distinct` and `distinct real`, agree."""
    left, right = (t.removesuffix(" only") for t in (left, right))
    classes = [sorted(_NOUN_OF_CLASS.sub("", t).split()) for t in (left, right)]
    if (
        classes[0] == classes[1]
        and len(classes[0]) == 2
        and " and " not in left + right
        and "," not in left + right
    ):
        return not {"not", "non", "north", "south"} & set(classes[0])
    items = [sorted(i for i in _SEPARATOR.split(text) if i) for text in (left, right)]
    ranked = "," in left and " and " not in left and len(items[0]) > 2
    in_order = [[i for i in _SEPARATOR.split(text) if i] for text in (left, right)]
    if ranked and in_order[0] != items[0]:  # names that are not in the order of the alphabet
        return in_order[0] == in_order[1]
    if ranked and in_order[1] == in_order[0][::-1]:  # a set is rarely written backwards
        return False
    if items[0] == items[1] and len(items[0]) > 1:
        return True
    return any(
        len(one) > 1 and len(other) == 1 and one == sorted(other[0].split())
        for one, other in (items, items[::-1])
    )


def said_of_subject(gold: str, sentence: str) -> bool:
    """Return whether a sentence says of something that it is what a gold of words names.

    *ellipse* for *It is an ellipse centered at (1,2)* and *(0,0) is a saddle point*.
    """
    if not is_worded(gold) or len(sentence) > MAX_CHARS:
        return False
    if len(re.findall(r"\b(?:is|are|was|were|be)\b", sentence)) > 1:
        return False
    sentence = _DETAIL.sub("", " ".join(strip_marks(sentence).lower().split()).strip(" ."))
    found = _predicate(sentence) or sentence
    return is_worded(found) and canonical(gold) == canonical(found) != ""


def ends_with(gold: str, sentence: str) -> bool:
    """Return whether a sentence without a negation ends with what a gold of words says.

    *ellipse* for *This is the equation of an ellipse*, *converges* for *This shows convergence*.
    """
    if not is_worded(gold) or len(sentence) > 2 * MAX_CHARS:
        return False
    words = strip_marks(sentence).lower().replace(" absolutely", "").strip(_QUOTES).split()
    said = canonical(_CONDITION.sub("", strip_marks(gold).lower().strip()))
    for length in range(1, min(len(gold.split()) + 1, len(words) - 1) + 1):
        before, end = " ".join(words[:-length]) + " ", " ".join(words[-length:]).strip(_QUOTES)
        if said and said == canonical(_CONDITION.sub("", end)):
            return bool(_BEFORE.search(before)) and not _DENIED.search(before)
    return False


def is_predicate(word: str, sentence: str) -> bool:
    """Return whether a sentence in lower case says of its subject that it is `word`."""
    return bool(word) and canonical(word) == canonical(_predicate(sentence))


def _predicate(text: str) -> str:
    """Return `circle` for `the curve is a circle`, *neither* for *is neither even nor odd*."""
    m = _PREDICATE.match(_CLAUSE_AFTER.sub("", text))
    if m is None or _ONLY_IF.search(text):
        return ""
    return "neither" if m[1].startswith("neither ") else m[1]


def canonical(text: str) -> str:
    """Return the canonical form of words."""
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", strip_marks(text).lower())
    text = re.sub(r"(?<=function) of \$?[a-z]\$?(?=[\s.]*$)", "", text)
    text = " ".join(text.split()).strip(" .,;:!'")
    if whole := _phrase(text):
        return whole
    text = _SUBJECT.sub("", _WINS.sub("", text))
    for pattern, form in _WORDS:
        text = pattern.sub(form, text)
    if whole := _phrase(text):
        return whole
    text = re.sub(r"^player\s(?=[a-z]{3})", "", _ARTICLE.sub("", text))
    text = _CLASS.sub(r"\1", _ROOTS.sub("", text)).removesuffix(" one")
    return re.sub(r"(?<=[a-z]{3})(?<!s)s\b", "", text)


def _phrase(text: str) -> str:
    return next((form for pattern, form in _PHRASES if pattern.fullmatch(text)), "")


def same_numbering(gold: str, answer: str) -> bool:
    """Return whether both name the same numbered things, days, months."""
    roman = "quadrant" in gold + answer or bool(
        re.match("q ?[iv]", gold) or re.match("q ?[iv]", answer)
    )
    left, right = (_numbering(t, roman) for t in (gold, answer))
    return bool(left) and left == right


def _numbering(text: str, roman: bool) -> list[str]:
    """Return the sorted items of a list, each as `3 quadrant` or `monday`; [] for other words."""
    found: list[str] = []
    for item in _SEPARATOR.split(_PREPOSITION.sub("", text.lower().strip(" ."))):
        item = re.sub(r"^q ?(?=[iv1-4]+$)|\bquadrants?\b|\bthe\b", " ", item)
        plain = filter(None, (w.strip(".") for w in item.split()))
        words = [_number_or_name(word, roman) for word in plain]
        if sum(w[0].isdigit() for w in words) > 1:
            return []
        if not words or not any(w[0].isdigit() or w in _DAYS or w in _MONTHS for w in words):
            return []
        found.append(" ".join(sorted(words)))
    return sorted(found)


def _number_or_name(word: str, roman: bool) -> str:
    if word in _ORDINALS:
        return str(_ORDINALS.index(word))
    if m := re.fullmatch(r"(\d+)(?:st|nd|rd|th)?", word):
        return m[1]
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if (len(word) > 1 or roman) and word and _ROMAN.fullmatch(word):
        values = [_ROMAN_LETTERS[c] for c in word]
        signed = (v if v >= max(values[i:]) else -v for i, v in enumerate(values))
        return str(sum(signed))
    return _SHORT_NAMES.get(word, word)
