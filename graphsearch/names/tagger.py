"""Names in sentences, capitalised or not: a linear tagger over hashed features of words and their neighbours.

It was trained on sentences as written and on the same ones in small letters, so it reads both. All sentences of a call
are tagged at once: each distinct word is looked at once, and what remains are sums of whole numbers, so that every
machine finds the same names. Weights and lexicon are made by `tools/train_tagger`.

    score of a tag at a word = sum of the weights of the word's features + the weight of the tag after the tag before
                               − how far the word leans to be a name, for no name
    names                    = the sequence of tags with the highest sum of scores
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import count, groupby
from struct import pack
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphsearch.names.lexicon import CALENDAR, DEMONYM, FUNCTION, ORDINARY, flags

KINDS: Final = ("person", "organisation", "place", "thing")
TAGS: Final = ("O", *(f"{part}-{kind}" for kind in KINDS for part in "BI"))
"""No name; and for each kind, a name's first word and a further one."""
BITS: Final = 18
"""Features are hashed into two to the power of this."""
UNKNOWN: Final = 6.0
"""How far an unknown word leans to be a name: corpora are full of slang, memories are full of names nobody knows."""
CAPITAL: Final = 4.0
"""How far a capital does within a sentence."""

Tagged = tuple[int, int, str, float]
"""First word and end, kind, and how much likelier than no name the weakest of its words is, as a logarithm."""

_CHUNK: Final = 16_384
"""Words that are tagged at once."""
_LONG: Final = 2
"""A word of more letters may lean to be a name."""
_LONGEST: Final = 40
"""Letters of a word beyond which it is no name."""
_SEVERAL: Final = 2
_STRANGERS: Final = 3
"""A sentence that has this many more unknown words in small letters than twice its words of grammar is not English."""
_FOREIGN: Final = re.compile("[^\\W\\d_A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
"""A letter that is not Latin: such words are left to who knows them."""
_EDGE: Final = "\0"
"""Stands twice before, between and after sentences."""
_NEVER: Final = -(1 << 20)

# What is said of a word by a bit, above its flags.
_UPPER, _LINK, _NEW, _CALENDAR, _NO_NAME, _FUNCTION, _STRANGE = (1 << bit for bit in range(8, 15))
_FLAGS: Final = 0xFF

Ids = NDArray[np.uint32]
Scores = NDArray[np.int32]


class Model(NamedTuple):
    """Weights as whole numbers, ``unit`` of which are one of a logarithm; no name has weight 0."""

    weights: NDArray[np.int16]
    """A row of a feature: one of each tag but the first."""
    before: Scores
    """Of each tag after each tag."""
    unit: float


def casing(words: Sequence[str]) -> str:
    """How names of a sentence are written.

    ``l``: it has no capital but "I". ``s``: it begins with a small letter, or only its first word has a capital, so
    that names may be in small letters. ``u``: all of it is in capitals. ``m``: names have capitals.
    """
    letters = [word for word in words if word[0].isalpha() and word != "I"]
    capital = [word for word in letters if word[0].isupper()]
    if not capital:
        return "l"
    if len(capital) == len(letters) and sum(len(word) > 1 and word.isupper() for word in letters) >= _SEVERAL:
        return "u"
    return "s" if capital == letters[:1] or letters[0][0].islower() else "m"


def tag_sentences(sentences: Sequence[Sequence[str]]) -> list[list[Tagged]]:
    """Find the names of each sentence, which is words and marks; none of them may be empty."""
    model = _stored()
    found: list[list[Tagged]] = []
    for some in _chunks(sentences):
        found += _tag_some(some, model)
    return found


def features(sentences: Sequence[Sequence[str]]) -> Ids:
    """The features of each word of sentences, those that are its own first: what the weights are learned for."""
    places, ids, rows = _interned(sentences)
    return np.hstack((rows[:, _COLUMNS:][ids[places]], _context_features(sentences, places, rows[ids])))


def _chunks(sentences: Sequence[Sequence[str]]) -> Iterator[Sequence[Sequence[str]]]:
    """Sentences next to each other that have some `_CHUNK` words."""
    sizes = np.cumsum([len(words) for words in sentences])
    first = 0
    for _, some in groupby(sizes // _CHUNK):
        end = first + sum(1 for _ in some)
        yield sentences[first:end]
        first = end


# --- features


@lru_cache(1 << 15)
def _row(word: str) -> bytes:
    """A word's columns (hash, shape, flags and bits), then its own features, which do not depend on its case."""
    low = word.casefold()
    flag = flags(low)
    foreign = _FOREIGN.search(word) is not None
    letter = word[0].isalpha() and not foreign
    bits = (
        (_UPPER if word[0].isupper() else 0)
        | (_LINK if letter or word in (",", "'s", "’s", "&") else 0)
        | (_NEW if letter and len(word) > _LONG and not flag & (ORDINARY | CALENDAR | DEMONYM) else 0)
        | (_CALENDAR if flag & CALENDAR else 0)
        | (_NO_NAME if word[0] in "@#`" or word.startswith("http") or foreign or len(word) > _LONGEST else 0)
        | (_FUNCTION if flag & FUNCTION else 0)
        | (_STRANGE if not flag and word[0].isalpha() and not word[0].isupper() else 0)
    )
    parts = [low, low[-2:], low[-3:], low[-4:], low[:2], low[:3], low[:4]]
    own = [crc32(part.encode("utf-8", "replace"), salt) for salt, part in enumerate(parts, 1)]
    own += (crc32(b"%d" % flag), crc32(b"%d %d" % (flag, min(len(low), 8))))
    return pack("<12I", own[0], crc32(_shape(word).encode()), flag | bits, *(each >> (32 - BITS) for each in own))


_COLUMNS: Final = 3
_OWN: Final = 9


def _shape(word: str) -> str:
    """Xx for Word, x for word, X for WORD, d for 12, Xx-Xx and so on; runs are one letter."""
    signs = (
        "X" if sign.isupper() else "x" if sign.isalpha() else "d" if sign.isdigit() else sign for sign in word[:40]
    )
    return "".join(sign for sign, _ in groupby(signs))


def _interned(sentences: Sequence[Sequence[str]]) -> tuple[NDArray[np.intp], NDArray[np.intp], Ids]:
    """Where words are in all sentences with their edges, which distinct word is where, and the rows of these."""
    index: defaultdict[str, int] = defaultdict(count().__next__)
    edge = index[_EDGE]
    ids = [edge, edge]
    places: list[int] = []
    for words in sentences:
        places += range(len(ids), len(ids) + len(words))
        ids += [index[word] for word in words]
        ids += (edge, edge)
    rows = np.frombuffer(b"".join(map(_row, index)), "<u4").reshape(len(index), _COLUMNS + _OWN)
    return np.array(places, np.intp), np.array(ids, np.intp), rows


_PAIRS: Final = (
    ("look", "none"),
    ("look", "flag"),
    ("word-1", "none"),
    ("word+1", "none"),
    ("word-2", "none"),
    ("word+2", "none"),
    ("word-1", "flag"),
    ("word+1", "flag"),
    ("word-2", "word-1"),
    ("word+1", "word+2"),
    ("shape-1", "look"),
    ("shape+1", "look"),
    ("flag-1", "flag"),
    ("flag+1", "flag"),
    ("word-1", "look"),
    ("word+1", "look"),
    ("flags", "case"),
)
"""Features of a word in its sentence: pairs of what is seen of it and its neighbours."""


def _context_features(sentences: Sequence[Sequence[str]], places: NDArray[np.intp], seen: Ids) -> Ids:
    word, shape, flag = seen[:, 0], seen[:, 1], seen[:, 2] & np.uint32(_FLAGS)
    case = np.repeat(
        np.array([ord(casing(words)) for words in sentences], np.uint32), [len(words) for words in sentences]
    )
    first = (np.diff(places, prepend=-1) > 1).astype(np.uint32)
    none = np.zeros_like(case)
    columns = {"none": none, "case": case, "flag": flag[places]}
    columns["look"] = _mix(shape[places], case + 256 * first)
    columns["flags"] = flag[places] + 256 * flag[places - 1] + 65_536 * flag[places + 1]
    for name, column, offsets in (("word", word, (-2, -1, 1, 2)), ("shape", shape, (-1, 1)), ("flag", flag, (-1, 1))):
        columns |= {f"{name}{offset:+}": column[places + offset] for offset in offsets}
    left, right = (np.stack([columns[pair[side]] for pair in _PAIRS]) for side in (0, 1))
    salts = np.arange(1, len(_PAIRS) + 1, dtype=np.uint32)[:, None] * np.uint32(0x85EBCA6B)
    mixed: Ids = _mix(left ^ salts, right) >> np.uint32(32 - BITS)
    return mixed.T


def _mix(left: Ids, right: Ids) -> Ids:
    """Hash pairs of numbers; products are modulo 2^32."""
    mixed = (left * np.uint32(0x9E3779B1)) ^ (right + np.uint32(0x7F4A7C15))
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    mixed = (mixed ^ (mixed >> np.uint32(12))) * np.uint32(0x297A2D39)
    return mixed ^ (mixed >> np.uint32(15))


# --- the best tags


@cache
def _stored() -> Model:
    with files("graphsearch.names").joinpath("tagger.npz").open("rb") as file, np.load(file) as stored:
        return Model(stored["weights"].astype(np.int16), stored["before"].astype(np.int32), float(stored["unit"]))


def _tag_some(sentences: Sequence[Sequence[str]], model: Model) -> list[list[Tagged]]:
    places, ids, rows = _interned(sentences)
    seen = rows[ids]
    own = _summed(model, rows[:, _COLUMNS:])
    scores = np.zeros((len(places), len(TAGS)), np.int32)
    scores[:, 1:] = own[ids[places]] + _summed(model, _context_features(sentences, places, seen))
    sizes = np.array([len(words) for words in sentences], np.intp)
    scores[:, 0] = -_leans(sentences, places, seen[:, 2], model.unit)
    scores[_unreadable(seen[places, 2], sizes), 1:] = _NEVER
    tags = _best_tags(scores, sizes, np.where(_FOLLOWS, model.before, _NEVER))
    found: list[list[Tagged]] = [[] for _ in sentences]
    for sentence, first, end, kind in _spans(tags, sizes):
        begins = int(sizes[:sentence].sum())
        words = slice(begins + first, begins + end)
        margins = scores[np.arange(len(scores))[words], tags[words]] - scores[words, 0]
        found[sentence].append((first, end, kind, float(margins.min()) * model.unit))
    return found


def _summed(model: Model, ids: Ids) -> NDArray[np.int16]:
    """The sums of the weights of features, a row of ids each."""
    total = np.zeros((len(ids), len(TAGS) - 1), np.int16)
    for column in ids.T:
        total += model.weights.take(column, axis=0)
    return total


def _leans(sentences: Sequence[Sequence[str]], places: NDArray[np.intp], seen: Ids, unit: float) -> Scores:
    """How far each word leans to be a name."""
    sizes = [len(words) for words in sentences]
    cases = np.repeat(np.array([ord(casing(words)) for words in sentences], np.uint32), sizes)
    small = (cases == ord("l")) | (cases == ord("s"))
    here = seen[places]
    new, upper = here & _NEW > 0, here & _UPPER > 0
    inside = (seen[places - 1] & _LINK > 0) & ~(here & _CALENDAR > 0)
    unknown, capital = round(UNKNOWN / unit), round(CAPITAL / unit)
    cased = np.where(inside, np.where(new, unknown, capital), np.where(new, unknown // 2, 0))
    return np.where(upper, cased, np.where(new & small, unknown, 0)).astype(np.int32)


def _unreadable(seen: Ids, sizes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which words are no names whatever is beside them: links, words of other scripts, sentences that aren't English."""
    sentence = np.repeat(np.arange(len(sizes)), sizes)
    strange = (seen & _STRANGE > 0).astype(np.int32) - 2 * (seen & _FUNCTION > 0)
    return (seen & _NO_NAME > 0) | (np.bincount(sentence, strange, len(sizes)) >= _STRANGERS)[sentence]


_FOLLOWS: Final = np.array([[not tag.startswith("I-") or before[2:] == tag[2:] for tag in TAGS] for before in TAGS])


def _best_tags(scores: Scores, sizes: NDArray[np.intp], before: Scores) -> NDArray[np.intp]:
    """The tags that are best together, sentence by sentence: all first words at once, then all second ones, and so on."""
    order = np.argsort(-sizes, kind="stable")
    begins = (np.cumsum(sizes) - sizes)[order]
    longer = [int((sizes > place).sum()) for place in range(int(sizes.max(initial=0)))]
    best = np.zeros((len(sizes), len(TAGS)), np.int32)
    back = []
    for place, many in enumerate(longer):
        total = best[:many, :, None] + before if place else np.broadcast_to(before[:1], (many, len(TAGS), len(TAGS)))
        back.append(total.argmax(1))
        best[:many] = total.max(1) + scores[begins[:many] + place]
    tags = np.zeros(len(scores), np.intp)
    here = best.argmax(1)
    for place in reversed(range(len(longer))):
        some = np.arange(longer[place])
        tags[begins[some] + place] = here[some]
        here[some] = back[place][some, here[some]]
    return tags


def _spans(tags: NDArray[np.intp], sizes: NDArray[np.intp]) -> Iterator[tuple[int, int, int, str]]:
    """Sentence, first word, end and kind of each name."""
    begins = np.cumsum(sizes) - sizes
    named = np.flatnonzero(tags)
    opening = named[(tags[named] % 2 == 1)]
    sentences = np.searchsorted(begins, opening, side="right") - 1
    for sentence, place in zip(sentences.tolist(), opening.tolist(), strict=True):
        first, last = int(begins[sentence]), int(begins[sentence] + sizes[sentence])
        end = place + 1
        while end < last and tags[end] == tags[place] + 1:
            end += 1
        yield sentence, place - first, end - first, TAGS[tags[place]][2:]
