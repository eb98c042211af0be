"""Words, CJK grams and the parts of identifiers: one tokeniser for index and similarity.

The index is SQLite's FTS5 under ``porter unicode61``. That tokeniser takes a whole run of Chinese
or Japanese for one word and knows nothing of ``getUserId``, so texts are prepared here: CJK runs
become overlapping pairs and single characters, identifiers their parts and a joined form. A
question goes through the same preparation, which is what makes the two meet.

Known limits: Thai, Lao, Khmer and Burmese, which put no blanks between words, are found by whole
runs only; a simplified and a traditional Han character are two characters.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise
from operator import add
from typing import NamedTuple

MAX_TERMS = 64
QUESTION_CHARACTERS = 8_192
# A longer phrase finds nothing that its pairs do not, and doubles the cost of a question.
PHRASE_CHARACTERS = 4
NAME_CHARACTERS = 80

# Letters past U+3004: Han, kana, Hangul and a few rare scripts that are well served by pairs too.
# Said by what it is not, because Python 3.11 takes 2 ms to compile a class of 20,000 characters.
_CJK = r"[^\W\0-\u3004]"
# `xx*`, not `x+`: only a class that comes first lets the search skip ahead fast.
_CJK_RUN = rf"({_CJK}{_CJK}*)"
# Vowel signs and other marks that are no letters to ``\w`` and yet stand inside words.
_LETTER = (
    r"[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    r"\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3]"
)
_WORD = rf"{_LETTER}+(?:[-./\\:@]{_LETTER}+)*(?:\+\+|(?<=\b[A-Za-z])#(?![A-Za-z]))?"
_NAME = r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*(?:\+\+|#)?"
_CAMEL_BREAK = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_EMOJI = r"[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff]"

_JOINED = str.maketrans("", "", "-_./\\:@")
_APART = str.maketrans(dict.fromkeys("-_./\\:@", " "))
# To an index these are blanks; they alone would send NFKC down its slow road.
_WIDE_SIGNS = "，：；！？（）…\u3000"
_UNSEEN = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
# How their UTF-8 begins: bytes are searched much faster than characters.
_UNSEEN_SIGNS = (b"\xc2\xad", b"\xe2\x80", b"\xe2\x81", b"\xef\xb8", b"\xef\xbb")

_ENGLISH = frozenset(
    """
    a about after again all also always am an and any are aren as at be because been before
    being but by can cannot could couldn d did didn do does doesn doing don done down during
    each either else etc ever every few for from get gets getting give go going got had has hasn
    have having he her here hers him his how i if in into is isn it its itself just know let
    like ll m make many may me might more most much must my never no nor not now of off on once
    one only or other our ours out over own please re s same shall she should shouldn so some
    such t than that the their theirs them then there these they thing things this those through
    to too under until up upon us use used using ve very want was wasn way we were weren what
    when where whether which while who whom whose why will with within without won would wouldn
    yes yet you your yours
    """.split()  # noqa: SIM905
)
# What a question in Chinese, Japanese or Korean is built with, not what it is about.
_FUNCTION_WORDS = (
    "为什么|怎么样|怎么办|是不是|能不能|有没有|可不可以|怎么|怎样|什么|如何|哪些|哪个|哪里|是否|可以|应该|需要"
    "|我们|你们|他们|它们|大家|这个|那个|这些|那些|这里|那里|一个|一下|一些|没有|不要|不能|或者|还是|以及|并且"
    "|但是|因为|所以|如果|的时候|时候|之前|之后|然后|已经|现在|请问|帮我|关于|进行|对于|里面|一直|总是"
    "|[的吗呢吧啊呀嘛我你您她它这那哪谁]"
    "|ください|について|しています|している|しました|どうやって|でしょうか|します|しない|ません|ました|でした"
    "|です|ます|から|まで|ため|とき|こと|もの|これ|それ|あれ|どれ|どこ|なに|どう|なぜ|いつ|ある|いる|なら"
    "|では|には|とは|という|ように|ので|のは|のか|する|した|して|たい"
    "|を|(?<=[^ぁ-ゟ])[のはがにでともへやか](?![ぁ-ゟ])"
)
# Korean particles and endings: only at the end of a run that stays long enough without them.
_KOREAN_ENDINGS = (
    *(
        "입니다",
        "합니다",
        "하나요",
        "인가요",
        "해야",
        "하기",
        "하는",
        "하고",
        "에서",
        "으로",
        "부터",
        "까지",
    ),
    *"을를은는이가에의로와과도",
)
_KOREAN_FUNCTION = frozenset(
    """
    어떻게 무엇 무엇을 언제 어디 어디서 어떤 그리고 그런데 우리 저는 나는 또는
    및 등 때 수 것 것은 것을 더 안 못
    한다 하는 하고 해야 합니다 하나요 된다 되는 되나요 됩니다
    있다 있는 있나요 있습니다 없다 없는 싶다 싶어요
    """.split()  # noqa: SIM905
)
# Characters too common to tell anything: a pair with one of them is asked for as a last resort.
_WEAK = frozenset(
    "了是在和与或就也都要把被给得着里很请不会有到对个上下中从为以及之其时些么们让再还才又"
)
# Stems of verbs and adjectives that stand in a third of all Japanese texts.
_COMMON_STEMS = frozenset("出大小多少見行来思言入持知")


class Term(NamedTuple):
    """One thing that a question asks for.

    ``text`` is what a person reads; ``phrase`` the tokens, one blank apart, that stand for it
    side by side in the index; ``weight`` (above 0, at most 1) says how much of the question it
    carries: whole words and names 1, parts of names and pairs out of a longer run less.
    """

    text: str
    phrase: str
    weight: float = 1.0


def words(text: str) -> list[str]:
    """The words and identifiers of a text in order, NFKC and case-folded.

    An identifier or path is one word as it was written (``pnpm-lock.yaml``, ``src/auth``,
    ``c++``); so is a run of Chinese, Japanese or Korean characters.
    """
    return [word.casefold() for word in _words(_plain(text))]


def index_text(text: str) -> str:
    """The text as it goes into an FTS5 column under ``porter unicode61``.

    First the text itself without its CJK runs, so that phrases hold; then the parts and joined
    forms of its identifiers; then CJK pairs and single characters; then emoji by name.
    """
    plain = _plain(text)
    if plain.isascii():
        return " ".join((plain.lower(), *_all_forms(plain)))
    pieces = _compiled(_CJK_RUN).split(plain)
    rest, runs = " ".join(pieces[::2]), " ".join(pieces[1::2])
    out = [rest.casefold(), *_all_forms(rest)]
    if runs:
        # Pairs over the blanks too: they end a phrase where its run ends.
        out += map(add, runs, runs[1:] + " ")
        out.append(" ".join(runs))
    if not rest.isascii():
        out += map(_emoji_name, _compiled(_EMOJI).findall(rest))
    return " ".join(out)


def query_terms(text: str, limit: int = MAX_TERMS) -> list[Term]:
    """What a question asks for, the most telling first, each phrase once, at most ``limit``.

    English stop words and the function words of Chinese, Japanese and Korean are left out; a
    question of one word is asked as it stands. A single CJK character is asked for only where it
    is a word by itself. Reads the first 8,192 characters.
    """
    plain = _plain(text[:QUESTION_CHARACTERS])
    asked = _words(plain)
    found: list[Term] = []
    for word in asked:
        found += _run_terms(word) if _is_cjk(word) else _word_terms(word)
    if not plain.isascii():
        found += (Term(sign, _emoji_name(sign)) for sign in _compiled(_EMOJI).findall(plain))
    if not found and len(asked) == 1:
        found = _grams(asked[0]) if _is_cjk(asked[0]) else [_term(asked[0])]
        found = [term for term in found if term.phrase]
    best: dict[str, Term] = {}
    for term in sorted(found, key=lambda term: (-term.weight, -len(term.text))):
        best.setdefault(term.phrase, term)
    return list(best.values())[:limit]


def match_expression(terms: Iterable[Term], columns: Iterable[str] | None = None) -> str:
    """A MATCH string that asks FTS5 for any of the terms; empty when there is nothing to ask.

    Every term is quoted, so that no operator of FTS5 can come out of a text; one of several
    tokens is thereby a phrase. ``columns`` narrows the search to those columns.
    """
    asked = " OR ".join('"' + term.phrase.replace('"', '""') + '"' for term in terms)
    if not asked or columns is None:
        return asked
    return "{" + " ".join(columns) + "} : (" + asked + ")"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: a start that tokenises nothing should not pay."""
    return re.compile(pattern)


def _plain(text: str) -> str:
    """NFKC without what cannot be seen; case is kept, identifiers need it."""
    if text.isascii():
        return text
    # A text from a broken source may hold half characters, which SQLite refuses.
    raw = text.encode("utf-8", "replace")
    text = raw.decode()
    if not unicodedata.is_normalized("NFKC", text):
        for sign in _WIDE_SIGNS:
            text = text.replace(sign, " ")
        text = unicodedata.normalize("NFKC", text)
    if any(sign in raw for sign in _UNSEEN_SIGNS):
        for sign in _UNSEEN:
            text = text.replace(sign, "")
    return text


def _words(plain: str) -> list[str]:
    if not plain.isascii():
        plain = _compiled(_CJK_RUN).sub(r" \g<0> ", plain)
    found: list[str] = _compiled(_WORD).findall(plain)
    return found


def _is_cjk(word: str) -> bool:
    return word[0] > "\u3004"


def _emoji_name(character: str) -> str:
    return f"emoji{ord(character):x}"


def _all_forms(plain: str) -> list[str]:
    """What the identifiers of a text add to it, each identifier once."""
    forms: list[str] = []
    for name in dict.fromkeys(_compiled(_NAME).findall(plain)):
        # Nearly all words end here: plain, or with a capital. What is longer is no name but data.
        plain_word = name.isalpha() and (name.islower() or name.istitle())
        if not plain_word and len(name) <= NAME_CHARACTERS:
            forms += _forms(name)
    return forms


@lru_cache(maxsize=8_192)
def _forms(name: str) -> tuple[str, ...]:
    """The tokens that stand for one identifier beside what unicode61 makes of it.

    >>> _forms("getUserId")
    ('get', 'user', 'id')
    >>> _forms("pnpm-lock.yaml")
    ('pnpmlockyaml', 'pnpmlock')
    """
    signed = _signed(name)
    if signed:
        return (signed,)
    forms: list[str] = []
    name = name.rstrip("+#")
    stem, dot, _ = name.rpartition(".")
    letters = name.translate(_JOINED)
    if letters != name and not letters.isdigit():
        forms.append(letters.lower())
        if dot and ("-" in stem or "_" in stem):
            forms.append(stem.translate(_JOINED).lower())
    if not name.islower() and not name.isupper():
        for piece in name.translate(_APART).split():
            parts = _compiled(_CAMEL_BREAK).split(piece)
            forms += map(str.lower, parts if len(parts) > 1 else ())
    word = letters.rstrip("0123456789")
    if word != letters and len(word) > 1 and word.isalpha():
        forms.append(word.lower())
    return tuple(dict.fromkeys(forms))


def _signed(name: str) -> str:
    """``cpp`` for ``C++`` and ``csharp`` for ``C#``, whose signs no tokeniser keeps."""
    if name.endswith("++"):
        return name[:-2].lower() + "pp"
    if len(name) == 2 and name[1] == "#" and name[0].isalpha():
        return name[0].lower() + "sharp"
    return ""


def _term(word: str, weight: float = 1.0) -> Term:
    folded = word.casefold()
    return Term(folded, " ".join(folded.translate(_APART).split()), weight)


def _word_terms(word: str) -> list[Term]:
    """The terms of one word or identifier that is not CJK."""
    folded = word.casefold()
    if folded in _ENGLISH:
        return []
    if signed := _signed(word):
        return [Term(folded, signed)]
    terms = [_term(word)]
    pieces = _compiled(_CAMEL_BREAK).sub(" ", word.translate(_APART)).casefold().split()
    if len(pieces) > 1 or not word.isalpha():
        whole = terms[0].phrase
        terms += [Term(f, f, 0.5 if f in whole else 1.0) for f in _all_forms(word)]
        terms += [Term(piece, piece, 0.5) for piece in pieces if piece != whole]
    return [term for term in terms if term.phrase and _tells(term.phrase)]


def _tells(phrase: str) -> bool:
    return phrase not in _ENGLISH and (len(phrase) > 1 or not phrase.isascii())


def _run_terms(run: str) -> list[Term]:
    """The terms of a run of CJK characters."""
    if "가" <= run[0] <= "힣":
        return _korean_terms(run)
    terms: list[Term] = []
    for segment in _compiled(_FUNCTION_WORDS).split(run):
        if segment and not set(segment) <= _WEAK:
            terms += _grams(segment)
    # A Japanese verb is known by its stem: 使う, 使って, 使った.
    for before, one, after in zip(" " + run, run, run[1:], strict=False):
        stem = "ぁ" <= after <= "ゟ" and one > "\u33ff" and before < "\u3400"
        if stem and one not in _COMMON_STEMS:
            terms.append(Term(one, one, 0.4))
    return terms


def _korean_terms(run: str) -> list[Term]:
    if run in _KOREAN_FUNCTION:
        return []
    for ending in _KOREAN_ENDINGS:
        if run.endswith(ending) and len(run) >= len(ending) + 2:
            return _grams(run.removesuffix(ending))
    terms = _grams(run)
    if len(run) == 2 and run[1] in "을를은는":
        terms.append(Term(run[0], run[0], 0.4))
    return terms


def _grams(segment: str) -> list[Term]:
    """A short segment as a whole, and its pairs; those with a weak character as a last resort."""
    if len(segment) <= 2:
        return [Term(segment, segment, len(segment) / 2)]
    pairs = [one + other for one, other in pairwise(segment)]
    telling = [pair for pair in pairs if _WEAK.isdisjoint(pair)]
    terms = [Term(pair, pair, 0.6) for pair in telling or pairs]
    if len(segment) <= PHRASE_CHARACTERS:
        terms.append(Term(segment, " ".join(pairs)))
    return terms
