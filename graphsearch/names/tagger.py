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
from typing import IO, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphsearch.names.lexicon import CALENDAR, DEMONYM, FUNCTION, ORDINARY, flags

KINDS: Final = ("person", "organisation", "place", "thing")
TAGS: Final = ("O", *(f"{part}-{kind}" for kind in KINDS for part in "BI"))
"""No name; and for each kind, a name's first word and a further one."""
FOLLOWS: Final = np.array([[not tag.startswith("I-") or before[2:] == tag[2:] for tag in TAGS] for before in TAGS])
"""Whether a tag may stand after a tag."""
BITS: Final = 20
"""Features are hashed into two to the power of this."""
UNKNOWN: Final = 4.0
"""How far an unknown word leans to be a name: corpora are full of slang, memories are full of names nobody knows."""
CAPITAL: Final = 3.0
"""How far a capital does within a sentence."""
KIND: Final = 2.0
"""How much likelier the kind of a name must be than any other, as a logarithm; below, as many are wrong as right."""

Tagged = tuple[int, int, str, float]
"""First word and end; kind, "" where it is doubtful; and how much likelier than no name its weakest word is, as a
logarithm."""

_CHUNK: Final = 4_096
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

# Bits of a word, above its flags.
_UPPER, _LINK, _NEW, _CALENDAR, _NO_NAME, _FUNCTION, _STRANGE = (1 << bit for bit in range(8, 15))
_FLAGS: Final = 0xFF
_LINKS: Final = frozenset({",", "'s", "’s", "&"})
_KNOWN: Final = 2
"""The column of flags and bits."""

Ids = NDArray[np.uint32]
Places = NDArray[np.intp]
Scores = NDArray[np.int32]


class Model(NamedTuple):
    """Weights as whole numbers, ``unit`` of which are one of a logarithm; no name has weight 0."""

    weights: NDArray[np.int8]
    """A row of a feature: one of each tag but the first."""
    before: Scores
    """Of each tag after each tag."""
    unit: float


def casing(words: Sequence[str]) -> str:
    """How names of a sentence are written.

    ``l``: it has no capital but "I". ``s``: it begins with a small letter, or only its first word has a capital, so
    that names may be in small letters. ``u``: all of it is in capitals. ``m``: names have capitals.
    """
    capital = [word for word in words if word[0].isupper() and word != "I"]
    if not capital:
        return "l"
    letters = [word for word in words if word[0].isalpha() and word != "I"]
    if len(capital) == len(letters) and sum(len(word) > 1 and word.isupper() for word in letters) >= _SEVERAL:
        return "u"
    return "s" if capital == letters[:1] or letters[0][0].islower() else "m"


def tag_sentences(sentences: Sequence[Sequence[str]], model: Model | None = None) -> Iterator[list[Tagged]]:
    """Find the names of each sentence, which is words and marks, none of them empty; by the weights that ship."""
    model = model or _stored()
    for some in _chunks(sentences):
        yield from _tag_some(_batch(some), model)


def features(sentences: Sequence[Sequence[str]]) -> Ids:
    """The features of each word of sentences, those that are its own first: what the weights are learned for."""
    batch = _batch(sentences)
    return np.hstack((batch.rows[:, _COLUMNS:][batch.ids[batch.places]], _context_features(batch)))


def _chunks(sentences: Sequence[Sequence[str]]) -> Iterator[Sequence[Sequence[str]]]:
    """Sentences next to each other that have some `_CHUNK` words."""
    sizes = np.cumsum([len(words) for words in sentences])
    first = 0
    for _, some in groupby(sizes // _CHUNK):
        end = first + sum(1 for _ in some)
        yield sentences[first:end]
        first = end


# --- what is seen of words


class _Batch(NamedTuple):
    """Sentences in one row, with two edges before, between and after them."""

    rows: Ids
    """Of each distinct word: hash, shape, flags and bits, size; then its own features."""
    ids: Places
    """Which distinct word is where."""
    places: Places
    """Where words are."""
    sizes: Places
    """Words of each sentence."""
    cases: Ids
    """The casing of each word's sentence."""

    @property
    def seen(self) -> Ids:
        """The rows of words and edges, in order."""
        return self.rows[self.ids, :_COLUMNS]


_COLUMNS: Final = 4
_AFFIXES: Final = (slice(None), slice(-2, None), slice(-3, None), slice(-4, None), slice(2), slice(3), slice(4))
"""What a word's own features are of; they do not depend on its case."""
OWN: Final = len(_AFFIXES)
"""How many of the features of a word are its own: the first ones."""


def _batch(sentences: Sequence[Sequence[str]]) -> _Batch:
    index: defaultdict[str, int] = defaultdict(count().__next__)
    edge = index[_EDGE]  # 0
    ids = [edge, edge]
    places: list[int] = []
    for words in sentences:
        places += range(len(ids), len(ids) + len(words))
        ids += [index[word] for word in words]
        ids += (edge, edge)
    rows = np.frombuffer(b"".join(map(_row, index)), "<u4").reshape(len(index), _COLUMNS + OWN)
    sizes = np.array([len(words) for words in sentences], np.intp)
    cases = np.array([ord(casing(words)) for words in sentences], np.uint32)
    return _Batch(rows, np.array(ids, np.intp), np.array(places, np.intp), sizes, np.repeat(cases, sizes))


@lru_cache(1 << 15)
def _row(word: str) -> bytes:
    low, first = word.casefold(), word[0]
    flag = flags(low)
    letter, upper = first.isalpha(), first.isupper()
    foreign = not word.isascii() and _FOREIGN.search(word) is not None
    bits = (
        _UPPER * upper
        | _LINK * ((letter and not foreign) or word in _LINKS)
        | _NEW * (letter and not foreign and len(word) > _LONG and not flag & (ORDINARY | CALENDAR | DEMONYM))
        | _CALENDAR * (flag & CALENDAR > 0)
        | _FUNCTION * (flag & FUNCTION > 0)
        | _STRANGE * (not flag and letter and not upper)
        | _NO_NAME * (foreign or first in "@#`" or len(word) > _LONGEST or word.startswith("http"))
    )
    raw = low.encode("utf-8", "replace")
    own = [crc32(raw[part], salt) >> (32 - BITS) for salt, part in enumerate(_AFFIXES)]
    return pack("<11I", crc32(raw), crc32(_shape(word).encode("utf-8", "replace")), flag | bits, min(len(low), 8), *own)


def _shape(word: str) -> str:
    """Xx for Word, x for word, X for WORD, d for 12, Xx-Xx and so on; runs are one letter."""
    if word.isalpha() and word.islower():
        return "x"
    signs = (
        "X" if sign.isupper() else "x" if sign.isalpha() else "d" if sign.isdigit() else sign for sign in word[:40]
    )
    return "".join(sign for sign, _ in groupby(signs))


_PAIRS: Final = (
    ("flag", "none"),
    ("flag", "size"),
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
"""Features of a word in its sentence: pairs of what is seen of it and of its neighbours."""


def _context_features(batch: _Batch) -> Ids:
    places = batch.places
    word, shape, known, size = batch.seen.T
    flag = known & np.uint32(_FLAGS)
    first = (batch.ids[places - 1] == 0).astype(np.uint32)  # an edge is before it
    columns = {"none": np.zeros_like(batch.cases), "case": batch.cases, "flag": flag[places], "size": size[places]}
    columns["look"] = _mix(shape[places], batch.cases + 256 * first)
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
    final: Ids = mixed ^ (mixed >> np.uint32(15))
    return final


# --- the best tags


@cache
def _stored() -> Model:
    with files("graphsearch.names").joinpath("tagger.npz").open("rb") as file:
        return read_model(file)


def read_model(file: IO[bytes]) -> Model:
    """Read the weights that `tools/train_tagger` wrote."""
    with np.load(file) as stored:
        weights = np.zeros((1 << BITS, len(TAGS) - 1), np.int8)
        weights[stored["rows"]] = stored["weights"]
        return Model(weights, stored["before"], float(stored["unit"]))


def _tag_some(batch: _Batch, model: Model) -> list[list[Tagged]]:
    known = batch.rows[batch.ids, _KNOWN]
    scores = np.zeros((len(batch.places), len(TAGS)), np.int32)
    scores[:, 1:] = _summed(model, batch.rows[:, _COLUMNS:])[batch.ids[batch.places]]
    scores[:, 1:] += _summed(model, _context_features(batch))
    scores[:, 0] = -_leans(batch, known, model.unit)
    scores[_unreadable(batch, known), 1:] = _NEVER
    tags = _best_tags(scores, batch.sizes, np.where(FOLLOWS, model.before, _NEVER))
    return _spans(tags, scores, batch.sizes, model.unit)


def _summed(model: Model, ids: Ids) -> NDArray[np.int16]:
    """The sums of the weights of features, a row of ids each."""
    total: NDArray[np.int16] = model.weights.take(ids.T, axis=0).sum(0, dtype=np.int16)
    return total


def _leans(batch: _Batch, known: Ids, unit: float) -> Scores:
    """How far each word leans to be a name."""
    small = (batch.cases == ord("l")) | (batch.cases == ord("s"))
    here = known[batch.places]
    new, upper = here & _NEW > 0, here & _UPPER > 0
    inside = (known[batch.places - 1] & _LINK > 0) & (here & _CALENDAR == 0)
    unknown, capital = round(UNKNOWN / unit), round(CAPITAL / unit)
    cased = np.where(inside, np.where(new, unknown, capital), np.where(new, unknown // 2, 0))
    return np.where(upper, cased, np.where(new & small, unknown, 0)).astype(np.int32)


def _unreadable(batch: _Batch, known: Ids) -> NDArray[np.bool_]:
    """Which words are no names whatever is beside them: links, other scripts, sentences that aren't English."""
    here = known[batch.places]
    strange = (here & _STRANGE > 0).astype(np.int32) - 2 * (here & _FUNCTION > 0)
    sentence = np.repeat(np.arange(len(batch.sizes)), batch.sizes)
    not_english: NDArray[np.bool_] = np.bincount(sentence, strange, len(batch.sizes)) >= _STRANGERS
    return not_english[sentence] | (here & _NO_NAME > 0)


def _best_tags(scores: Scores, sizes: Places, before: Scores) -> Places:
    """The tags that are best together, of each sentence: all first words at once, then all second ones, and so on."""
    order = np.argsort(-sizes, kind="stable")
    begins = (np.cumsum(sizes) - sizes)[order]
    longer = np.searchsorted(-sizes[order], -np.arange(sizes.max(initial=0))).tolist()
    best = np.zeros((len(sizes), len(TAGS)), np.int32)
    best[:, 1:] = _NEVER  # before its first word, a sentence is in no name
    back = []
    for place, many in enumerate(longer):
        total = best[:many, :, None] + before
        back.append(total.argmax(1))
        best[:many] = total.max(1) + scores[begins[:many] + place]
    tags = np.zeros(len(scores), np.intp)
    here = best.argmax(1)
    for place in reversed(range(len(longer))):
        some = np.arange(longer[place])
        tags[begins[some] + place] = here[some]
        here[some] = back[place][some, here[some]]
    return tags


def _spans(tags: Places, scores: Scores, sizes: Places, unit: float) -> list[list[Tagged]]:
    """The names of each sentence that tags say."""
    named = np.flatnonzero(tags)
    is_first = tags[named] % 2
    opens = np.flatnonzero(is_first)
    begins = np.cumsum(sizes) - sizes
    sentences = np.searchsorted(begins, named[opens], side="right") - 1
    first = named[opens] - begins[sentences]
    end = first + np.diff(opens, append=len(named))
    margins = np.minimum.reduceat(scores[named, tags[named]] - scores[named, 0], opens) * unit
    # Of each kind: the score of all words of the name, the first one as a first word, the others as further ones.
    of_kinds = scores[named[:, None], np.arange(2, len(TAGS), 2) - is_first[:, None]]
    best = np.sort(np.add.reduceat(of_kinds, opens), axis=1)
    sure = (best[:, -1] - best[:, -2]) * unit >= KIND
    kinds = np.where(sure, (tags[named[opens]] + 1) // 2, 0)
    found: list[list[Tagged]] = [[] for _ in sizes]
    for sentence, *name, kind, margin in zip(
        *(each.tolist() for each in (sentences, first, end, kinds, margins)), strict=True
    ):
        found[sentence].append((*name, ("", *KINDS)[kind], margin))
    return found
