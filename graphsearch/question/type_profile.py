"""Profiles of the relation types and of the words of a scope, learned from its facts; read through a gate, and cached.

A type has a document and a few examples; a word is a name or an ordinary one. The document of a type has its name, the
kinds of its ends, and the facts of some of its relations without the names of their ends. Terms are weighted by BM25
over these documents: a word shared by few types distinguishes them.

Words beside names ask for types, and the name is one end of each. They are read by the table of relations, and by the
verbs in the names of the scope's own types: "who does X lead" and "who leads X" ask for the two ends of "leads", and of
"led_by".

Questions about code are read by a grammar of their own: the verb or noun of a relation stands beside the name, and
nothing between or behind them says anything else. "what does Client call?" asks for its calls; "how does Client use
cookies?" does not.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import cache
from hashlib import blake2b
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.gate import Gate
from graphsearch.access.gatekeeper import first_of_each, widest
from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Keys, Mask, Rows
from graphsearch.columns.formulas import cosines
from graphsearch.ingest.frames.table import KINDS, OBJECT, Frame, Table, bases
from graphsearch.ingest.frames.table import table as relations
from graphsearch.ingest.stating.phrases import SYMMETRIC
from graphsearch.ingest.stating.scope import kind_of
from graphsearch.model import ElementKind, Relation, Scope, Vector
from graphsearch.question.analysis import Nameable, name_tokens, relation_line, spread
from graphsearch.text.analyser import STOP_WORDS, Analyser, stem
from graphsearch.text.bm25 import grid, idf, saturated
from graphsearch.text.word_lists import word_lists

SOURCE: Final = 1
TARGET: Final = -1

_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
_DO: Final = frozenset({"do", "does", "did"})
_AUXILIARIES: Final = _DO | {"has", "have", "had"}
_BE: Final = frozenset({"is", "are", "was", "were", "s", "been"})
_LIGHT: Final = frozenset({"be", "have", "do", "go", "come", "get", "take"})
"""Verbs that mean nothing without the words behind them."""
_OF: Final = frozenset({"of", "at", "for", "in", "to"})
_PREPOSITIONS: Final = _OF | {"about", "from", "into", "on", "with"}
_OWN: Final = frozenset({"own"})
"""Marks a verb of a type's name, of which a preposition makes another verb: "stars in" is not "stars"."""
_PEOPLE: Final = {"team": "report", "staff": "report", "people": "report"}
"""Of a person, those who report to it: "who is on X's team"."""
_LISTED: Final = frozenset({"and", "or"})
_Name = tuple[range, AbstractSet[str]]
_WORDS: Final = 3
"""Most words of a noun."""
_NEAR: Final = 2
"""Words between a name and its verb or auxiliary."""


def own_table(types: Iterable[str]) -> Table:
    """The verbs in the names of types, "reports_to" as "report to"; of symmetric types none."""
    verbs: defaultdict[str, list[Frame]] = defaultdict(list)
    for type_ in types:
        words = spread(type_).split()
        at = next((at for at, word in enumerate(words) if word not in STOP_WORDS), None)
        if at is None or words[-1] == "with":
            continue
        passive = "by" in words
        slot = OBJECT if passive else tuple(words[at + 1 :]) or OBJECT
        for verb in _bases(words[at]):
            verbs[verb].append(Frame(type_, "*", "*", "holds", passive, 0, slot, _OWN))
    return Table(dict(verbs), {})


def said(
    texts: Sequence[str],
    names: Sequence[_Name],
    rows: Callable[[str], Iterable[int]],
    table: Table,
) -> Mapping[int, int]:
    """The types, by row, that words next to names mean, with the end that the name is; 0 where both are meant.

    ``texts`` are the folded words of a question; ``names`` the places of each name in it, with the types of what it may
    mean. ``rows`` are those of a type in the scope.
    """
    found: dict[int, set[int]] = {}
    names = _joined(texts, names)
    for number, (places, kinds) in enumerate(names):
        start = names[number - 1][0].stop if number else 0
        stop = names[number + 1][0].start if number + 1 < len(names) else len(texts)
        letters = {_LETTERS.get(kind_of(kind), "") for kind in kinds}
        for frame, end in (*_nouns(texts, places, start, stop, table), *_verbs(texts, places, start, table)):
            fits = frame.source if end == SOURCE else frame.target
            if "*" in fits or not letters.isdisjoint(fits):
                for row in rows(frame.type):
                    found.setdefault(row, set()).update((end, -end) if frame.type in SYMMETRIC else (end,))
    return {at: ends.pop() if len(ends) == 1 else 0 for at, ends in found.items()}


def _joined(texts: Sequence[str], names: Sequence[_Name]) -> list[_Name]:
    """Names with those that follow them in a list taken as one: "who do Ann, Bea and Cy report to" asks it of each."""
    joined: list[_Name] = []
    for places, kinds in names:
        if joined and _LISTED.issuperset(texts[joined[-1][0].stop : places.start]):
            first, others = joined.pop()
            joined.append((range(first.start, places.stop), kinds | others))
        else:
            joined.append((places, kinds))
    return joined


def _nouns(texts: Sequence[str], name: range, start: int, stop: int, table: Table) -> Iterator[tuple[Frame, int]]:
    """Nouns of a name: "X's boss", "the boss of X", "which bosses has X had"."""
    own = name.stop + (texts[name.stop : name.stop + 1] == ["s"])
    for first in (*range(start, name.start), *(range(own, min(own + _WORDS, stop)) if own < stop else ())):
        for end in range(min(first + _WORDS, stop if first >= own else name.start), first, -1):
            noun = next((each for each in _singular(texts[first:end]) if each in table.nouns), "")
            joined = first >= own or end == name.start or texts[end] in _OF | _AUXILIARIES
            if noun and joined:
                frames = (*table.nouns[noun], *table.nouns.get(_PEOPLE.get(noun, ""), ()))
                yield from ((each, SOURCE if each.inverse else TARGET) for each in frames)
                break


def _singular(words: Sequence[str]) -> Iterator[str]:
    *before, word = words
    yield " ".join(words)
    if word.endswith("s"):
        yield from (" ".join((*before, each)) for each in (word[:-1], word.removesuffix("es"), f"{word[:-3]}y"))


def _verbs(texts: Sequence[str], name: range, start: int, table: Table) -> Iterator[tuple[Frame, int]]:
    """Verbs whose subject or object a name is: "who does X answer to", "who answers to X", "which team is X on"."""
    before = texts[max(start, name.start - _NEAR) : name.start]
    behind = range(name.stop, min(name.stop + _NEAR, len(texts)))
    if not _BE.isdisjoint(before[-1:]):
        yield from _frames(("be",), texts[name.stop :], texts[0], SOURCE, table)
        for place in behind if "by" in texts[name.stop :] else ():  # "who is X led by"
            yield from _frames(_bases(texts[place]), (), "", TARGET, table)
    elif not _AUXILIARIES.isdisjoint(before):
        for place in behind:
            yield from _frames(_bases(texts[place]), texts[place + 1 :], texts[0], SOURCE, table)
    else:
        own_verb = _is_verb(texts[name.stop : name.stop + 1])  # "who uses what X made" asks for uses, but not of X
        for place in range(start, name.start):
            verbs = ("be",) if texts[place] in _BE else _bases(texts[place])
            between = texts[place + 1 : name.start]
            passive = "by" in between  # "what is led by X"
            end = SOURCE if passive else TARGET
            for frame, found in _frames(verbs, () if passive else between, "", end, table):
                yield frame, found
                if own_verb:
                    yield frame, -found


def _frames(
    verbs: Iterable[str], behind: Sequence[str], asked: str, end: int, table: Table
) -> Iterator[tuple[Frame, int]]:
    """The frames of verbs whose slot the words behind begin with; "where" stands for a preposition."""
    for verb in sorted(verbs):
        for frame in table.verbs.get(verb, ()):
            slot = list(frame.slot)
            alone = frame.marks != _OWN or _PREPOSITIONS.isdisjoint(behind[-1:])
            plain = frame.slot == OBJECT and verb not in _LIGHT and alone
            if plain or list(behind[: len(slot)]) == slot or (asked == "where" and len(slot) == 1 and not behind):
                yield frame, -end if frame.inverse else end


def _bases(word: str) -> frozenset[str]:
    """The verbs of which a word may be a form; the stem stands for one that the table of relations has not."""
    return bases(word) | {stem(word)}


def _is_verb(word: Sequence[str]) -> bool:
    """Whether a word is an inflected form of a verb of the table of relations."""
    return any(verb in relations().verbs for each in word for verb in bases(each) - {each})


# -- of code -----------------------------------------------------------------------------------------------------------

DEFINES: Final = "defines"
"""The type by which the reader of source code says where something is."""


def listed(name: str) -> frozenset[str]:
    """A list of words of questions about code."""
    return word_lists("graphsearch.question")[name]


def place_verbs() -> frozenset[str]:
    """Words of where something is, which say nothing of what it is: "defined", "located"."""
    return listed("done")


@cache
def _types(table: str) -> Mapping[str, str]:
    """The relation type that each word of a table means: "verb", "of_source" or "of_target"."""
    lists = ((head.partition(" "), words) for head, words in word_lists("graphsearch.question").items())
    return {word: type_ for (of, _, type_), words in lists if of == table for word in words}


def asked_of_code(words: Sequence[str], named: Collection[int]) -> tuple[str, int] | None:
    """The relation that a question asks for of its one name in code, with the end that the name is.

    ``words`` are folded, ``named`` the places of the name. None if they ask for no relation of code, or say more.
    """
    first, last = min(named, default=0), max(named, default=-1)
    if not named or len(named) != last - first + 1:
        return None
    silent = STOP_WORDS | listed("passive") | listed("kinds") | listed("about") | {"s"}
    telling = {place for place, word in enumerate(words) if place not in named and word not in silent}
    asking = [place for place in range(len(words)) if place not in named and telling <= {place}]
    for place in asking:
        if words[place] in _types("verb"):
            if place < first and words[place - 1 : place] and words[place - 1] in listed("persons"):
                return DEFINES, TARGET  # "how do I use X": what it is
            return _types("verb")[words[place]], _end_of_verb(words, place, first, last)
    for place in asking:
        if place > last or not listed("leading").isdisjoint(words[place + 1 : first]):
            for table, end in (("of_source", SOURCE), ("of_target", TARGET)):
                if type_ := _types(table).get(words[place]):
                    return type_, end
    where = all(words[place] in listed("done") | listed("places") for place in telling)
    return (DEFINES, TARGET) if where and not listed("question").isdisjoint(words) else None


def _end_of_verb(words: Sequence[str], place: int, first: int, last: int) -> int:
    """The end that a name at [first, last] is for a verb at ``place``."""
    if place < first:
        inside = not listed("inside").isdisjoint(words[place:first])
        return SOURCE if inside and not listed("passive").isdisjoint(words[:place]) else TARGET
    passive = not listed("passive").isdisjoint(words[last + 1 : place] or words[:first])
    return TARGET if passive and (words[place] != "derived" or "by" in words[place:]) else SOURCE


# -- of a scope --------------------------------------------------------------------------------------------------------

EXAMPLES: Final = 32
"""Relations of a type in its document: enough to include the rarer ways in which the type is worded."""
NAMED: Final = 3
"""Repetitions of the name of a type and the kinds of its ends in its document: they are the most specific words."""


@attrs.frozen(kw_only=True)
class Example:
    """A relation as visible: its type, the kinds and all names of its ends, its line and its fact."""

    type: str
    source_kind: str
    target_kind: str
    names: tuple[str, ...]
    line: str
    fact: str


@attrs.frozen(eq=False, kw_only=True)
class TypeProfile:
    """The relation types of a scope, by row, and what distinguishes them.

    * ``types``: their names in order; ``phrases``: these in words; ``typed``: with the kinds of their ends,
      "service owned by team". ``verbs``: the verbs in their names, where these distinguish the ends.
    * ``kinds``: the types of entities in order, ``kind_phrases``: these in words, with the terms of the last word in
      ``kind_terms``, and ``meets``, one row each: the relation types that such entities have.
    * ``postings``: for each term the rows of the types that have it, and its weight there.
    * ``vectors``, of shape (examples, dimensions): the facts' embeddings; ``example_rows``: the rows there of each
      type's examples, -1 where it has fewer than others.
    * ``wording``: which words are names. ``containing``: the number of ``examples`` lines that contain a term.
    * ``nameable``: the names of entities read since: cached as long as the profile, with the same visibility.
    """

    types: tuple[str, ...]
    phrases: tuple[str, ...]
    typed: tuple[str, ...]
    verbs: Table
    kinds: tuple[str, ...]
    kind_phrases: tuple[str, ...]
    kind_terms: tuple[frozenset[str], ...]
    meets: Mask
    postings: Mapping[str, tuple[Rows, Floats]]
    vectors: Vector
    example_rows: Rows
    wording: Wording
    examples: int
    containing: Mapping[str, int]
    nameable: MutableMapping[UUID, Nameable] = attrs.field(factory=dict)

    def rarities(self, terms: Iterable[str]) -> dict[str, float]:
        """The idf of terms among the examples' lines, the only visible lines if there are no more."""
        return {term: idf(self.examples, self.containing.get(term, 0)) for term in terms}

    def row_of(self, type_: str) -> int:
        """The row of a type, -1 if unknown."""
        return self._rows.get(type_, -1)

    def rows_of(self, type_: str) -> list[int]:
        """The rows of a type, and of those that only add to its name: "uses" is in "uses_payment_provider"."""
        more = [row for row, each in enumerate(self.types) if each.startswith(f"{type_}_")]
        plain = (row for row in more if not STOP_WORDS.issuperset(self.types[row].removeprefix(type_)[1:].split("_")))
        return [row for row in (self.row_of(type_), *plain) if row >= 0]

    def kinds_of(self, terms: Collection[str]) -> tuple[int, ...]:
        """The rows of the kinds whose last word is among some terms."""
        return tuple(row for row, each in enumerate(self.kind_terms) if not each.isdisjoint(terms))

    def kind_of(self, kind: str) -> int:
        """The row of a kind of entities, -1 if unknown."""
        return self._kinds.get(kind, -1)

    _rows: Mapping[str, int] = attrs.field(init=False, default=attrs.Factory(lambda self: _numbered(self.types), True))
    _kinds: Mapping[str, int] = attrs.field(init=False, default=attrs.Factory(lambda self: _numbered(self.kinds), True))


def _numbered(names: Sequence[str]) -> Mapping[str, int]:
    return {name: row for row, name in enumerate(names)}


def type_profile(examples: Sequence[Example], vectors: Vector, analyser: Analyser) -> TypeProfile:
    """The profile of some examples, at most `EXAMPLES` per type; ``vectors`` are those of their facts, one row each."""
    types = tuple(sorted({each.type for each in examples}))
    row_of = {name: row for row, name in enumerate(types)}
    places: list[list[int]] = [[] for _ in types]
    for place, each in enumerate(examples):
        places[row_of[each.type]].append(place)
    of_type = {name: [examples[place] for place in rows] for name, rows in zip(types, places, strict=True)}
    widest = max(map(len, places), default=0)
    example_rows = [[*rows, *[-1] * (widest - len(rows))] for rows in places]
    phrases = tuple(map(spread, types))
    ends = (_usual_ends(of_type[name]) for name in types)
    typed = tuple(f"{spread(one)} {phrase} {spread(two)}" for phrase, (one, two) in zip(phrases, ends, strict=True))
    kinds = tuple(sorted({kind for each in examples for kind in (each.source_kind, each.target_kind)}))
    kind_phrases = tuple(map(spread, kinds))
    meets = np.zeros((len(kinds), len(types)), np.bool_)
    for each in examples:
        meets[[kinds.index(each.source_kind), kinds.index(each.target_kind)], row_of[each.type]] = True
    return TypeProfile(
        types=types,
        phrases=phrases,
        typed=typed,
        verbs=own_table(name for name in types if _may_turn(of_type[name])),
        kinds=kinds,
        kind_phrases=kind_phrases,
        kind_terms=tuple(frozenset(analyser.terms(phrase)[-1:]) for phrase in kind_phrases),
        meets=meets,
        postings=_postings([_document(line, of_type[name], analyser) for name, line in zip(types, typed, strict=True)]),
        vectors=vectors,
        example_rows=np.array(example_rows, np.intp).reshape(len(types), widest),
        wording=_wording(examples, [*phrases, *kind_phrases], analyser),
        examples=len(examples),
        containing=Counter(term for each in examples for term in set(analyser.terms(each.line))),
    )


def masked(example: Example) -> list[str]:
    """The words of a fact without those of the names of its ends, folded."""
    names = {word for name in example.names for word in name_tokens(name)}
    return [word for word in name_tokens(example.fact) if word not in names]


def _may_turn(examples: Sequence[Example]) -> bool:
    """Whether an entity may stand at either end: else its kind shows the end, however the type is worded."""
    return not {each.source_kind for each in examples}.isdisjoint(each.target_kind for each in examples)


def _usual_ends(examples: Iterable[Example]) -> tuple[str, str]:
    counted = Counter((each.source_kind, each.target_kind) for each in examples)
    return min(counted, key=lambda ends: (-counted[ends], ends))


def _document(line: str, examples: Iterable[Example], analyser: Analyser) -> Counter[str]:
    counts = Counter({term: NAMED * number for term, number in Counter(analyser.terms(line)).items()})
    for each in examples:
        counts.update(analyser.terms(" ".join(masked(each))))
    return counts


def _postings(documents: Sequence[Counter[str]]) -> Mapping[str, tuple[Rows, Floats]]:
    """BM25 as `graphsearch.text.bm25`, with the idf in it."""
    lengths = [document.total() for document in documents]
    average = grid(sum(lengths) / max(len(documents), 1))
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, (document, length) in enumerate(zip(documents, lengths, strict=True)):
        for term, weight in saturated(document, length, average).items():
            found[term].append((row, weight))
    return {
        term: (
            np.array([row for row, _ in rows], np.intp),
            idf(len(documents), len(rows)) * np.array([weight for _, weight in rows]),
        )
        for term, rows in found.items()
    }


def _wording(examples: Iterable[Example], type_names: Iterable[str], analyser: Analyser) -> Wording:
    naming: Counter[str] = Counter()
    telling: Counter[str] = Counter()
    for each in examples:
        naming.update({word for name in each.names for word in name_tokens(name)})
        telling.update(set(masked(each)))
    return Wording(
        naming=naming,
        telling=telling,
        type_terms=frozenset(term for name in type_names for term in analyser.terms(name)),
    )


ORDINARY: Final = 0.5
"""A word that is part of a name in a smaller share of its occurrences is an ordinary word."""


@attrs.frozen(kw_only=True)
class Wording:
    """The usage of words in a scope.

    * ``naming``: the number of facts in which a word is part of the name of an end; ``telling``: in which it is not.
    * ``type_terms``: the terms of the names of relation types and entity types; such a word alone names nothing.
    """

    naming: Mapping[str, int]
    telling: Mapping[str, int]
    type_terms: frozenset[str]

    def nameness(self, word: str, terms: Iterable[str]) -> float:
        """The share of its facts in which a word is part of a name, in [0, 1]; 1 for a word of no fact.

        ``terms`` are the word's terms: one that is a term of a type's name is never part of a name by itself.
        """
        if not self.type_terms.isdisjoint(terms):
            return 0.0
        return self.usage(word)

    def usage(self, word: str) -> float:
        """Like `nameness`, whether the word is in a type's name or not."""
        naming, telling = self.naming.get(word, 0), self.telling.get(word, 0)
        return naming / (naming + telling) if naming + telling else 1.0


NOTHING_KNOWN: Final = Wording(naming={}, telling={}, type_terms=frozenset())
"""Every word may be a name."""

SAMPLED: Final = 2_000
"""Visible relations that examples are taken from, the first by id. Ids are hashes: this is a fair sample."""
READ: Final = 256
"""Relations of a type that its examples are chosen from."""
KEPT: Final = 64
"""Number of cached profiles: one per gate, least confidence and past."""


class ProfileCache:
    """The latest profiles of one engine, each for one version of its scope, one gate, least confidence and past.

    The profile of another version replaces the previous one: nothing forgotten survives the next question.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Hashable, TypeProfile]] = OrderedDict()

    async def profile(
        self,
        reader: Reader,
        gate: Gate | None,
        known_at: datetime | None,
        apart: Callable[[], AbstractAsyncContextManager[Reader]],
    ) -> TypeProfile:
        """The profile of what is visible and known; cached for gates that decide by signature.

        ``apart`` opens another reader of the same, in the same snapshot: what a profile is denied is not counted as
        denied to a question, since it depends on what was asked before.
        """
        seen, view = _seen(gate, reader.scope), reader.view
        past = known_at and (known_at, view.as_of)  # what had not occurred by then is not known either
        shown, version = (seen, view.min_edge_confidence, past), None if seen is None else await reader.version()
        known = self._kept.get(shown)
        if known is None or seen is None or known[0] != version:
            async with apart() as uncounted:
                known = version, await read_profile(uncounted)
        if seen is not None:
            self._kept[shown] = known
            self._kept.move_to_end(shown)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return known[1]


def _seen(gate: Gate | None, scope: Scope) -> Hashable | None:
    """A key of gates that show the same elements; None if a gate has no such key."""
    if gate is None or gate.allows_all:
        return ()
    return gate.bind(scope).question


async def read_profile(reader: Reader) -> TypeProfile:
    """The profile of the relations that are visible and known, whenever they hold."""
    wide = reader.whenever()
    keys = await _sampled(wide)
    examples = await _examples(await wide.relations(keys), wide)
    # by what they say rather than by id: ids differ from database to database, and answers should not
    order = sorted(range(len(examples)), key=lambda row: blake2b(examples[row].line.encode(), digest_size=8).digest())
    chosen = [order[place] for place in first_of_each([examples[row].type for row in order], Counter(), EXAMPLES)]
    vectors = await wide.vectors(ElementKind.RELATION, keys[chosen])
    return type_profile([examples[row] for row in chosen], vectors, reader.analyser)


async def _sampled(reader: Reader) -> Keys:
    """The first few visible relations of each type, among the first `SAMPLED` by id."""
    taken: Counter[str] = Counter()
    pages: list[Keys] = []
    after, left, looked = None, SAMPLED, 0
    while left > 0 and looked < widest(SAMPLED):
        page = await reader.page(after=after, limit=SAMPLED)
        steps = page.steps
        types = reader.signatures.type_names(steps.signatures[:left].tolist())
        pages.append(steps.rows.relations[first_of_each(types, taken, READ)])
        left -= len(types)
        looked += page.read
        if page.read < SAMPLED:
            break
        after = page.last
    return np.concatenate(pages)


async def _examples(relations: Sequence[Relation], reader: Reader) -> list[Example]:
    ids = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    entities = {entity.id: entity for entity in await reader.get_entities(ids)}
    ends = ((each, entities[each.source_id], entities[each.target_id]) for each in relations)
    return [
        Example(
            type=each.type,
            source_kind=source.type,
            target_kind=target.type,
            names=(source.name, *source.aliases, target.name, *target.aliases),
            line=relation_line(source.name, each.type, target.name, each.fact),
            fact=each.fact,
        )
        for each, source, target in ends
    ]


BEST_FACTS: Final = 3
"""Nearest examples of a type whose mean counts: a single one may be near by chance."""


def standardised(values: Floats) -> Floats:
    """Values in standard deviations from their mean, by row; zeros if all of a row are equal."""
    if not values.shape[-1]:
        return values
    apart = values - values.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((apart * apart).mean(axis=-1, keepdims=True))
    scaled: Floats = np.divide(apart, deviation, out=np.zeros_like(apart), where=deviation > 1e-9)  # noqa: PLR2004
    return scaled


def by_words(profile: TypeProfile, terms: Iterable[str]) -> Floats:
    """The BM25 of the types' documents for the terms of a question without its names."""
    scores = np.zeros(len(profile.types))
    for term in dict.fromkeys(terms):
        if term in profile.postings:
            rows, weights = profile.postings[term]
            scores[rows] += weights
    return scores


def worded(profile: TypeProfile, terms: Iterable[str], row: int) -> float:
    """The share of the terms' idf that a type's document contains, in [0, 1].

    A term counts by its weight in the type's document, relative to its greatest weight in any.
    """
    held = whole = 0.0
    for term in dict.fromkeys(terms):
        rows, weights = profile.postings.get(term, (np.empty(0, np.intp), np.empty(0)))
        rarity = idf(len(profile.types), len(rows))
        whole += rarity
        if (at := np.flatnonzero(rows == row)).size:
            held += rarity * float(weights[at[0]] / weights.max())
    return held / whole if whole else 0.0


def by_facts(profile: TypeProfile, vector: Vector) -> Floats:
    """The mean cosine of each type's nearest examples to a question."""
    near = np.append(cosines(profile.vectors, vector), -np.inf)
    best = np.sort(near[profile.example_rows], axis=1)[:, -BEST_FACTS:]
    there = np.isfinite(best)
    return np.asarray(np.where(there, best, 0.0).sum(axis=1) / there.sum(axis=1))


def affinities(
    profile: TypeProfile, terms: Iterable[str], vectors: tuple[Vector, Vector, Vector] | None = None
) -> Floats:
    """The affinity of each type, in standard deviations over all types: 0 on average.

    ``vectors`` are the embeddings of the question without its names, and of the profile's ``phrases`` and ``typed``,
    one row per type; without an embedder only words count.
    """
    parts = [by_words(profile, terms)]
    if vectors is not None:
        vector, phrases, typed = vectors
        parts += [cosines(phrases, vector), cosines(typed, vector)]
        if profile.vectors.shape[1] == len(vector):
            parts.append(by_facts(profile, vector))
    return standardised(standardised(np.array(parts, np.float64)).sum(axis=0))


_PRONOUNS: Final[Mapping[str, str]] = {
    "who": "person human individual",
    "whom": "person human individual",
    "whose": "person human individual",
    "where": "place location site",
    "when": "date time",
}
_DETERMINERS: Final = frozenset({"which", "what"})


def asked_kind(words: Sequence[str], is_kind: Callable[[str], bool]) -> str:
    """The kind that the first question word asks for, in words: "which backup vault …" wants a "backup vault".

    ``words`` are the folded words of a question. The noun phrase ends after a word that ``is_kind``: "which inspector
    looks after …" wants an "inspector". Empty if there is none: "what runs there?".
    """
    for place, word in enumerate(words):
        if word in _PRONOUNS:
            return _PRONOUNS[word]
        if word in _DETERMINERS:
            noun = [each for each in words[place + 1 : place + 3] if each not in STOP_WORDS]
            first = words[place + 1 : place + 2]
            if first and first[0] not in STOP_WORDS:
                return first[0] if is_kind(first[0]) else " ".join(noun)
    return ""
