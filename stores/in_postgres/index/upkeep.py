"""What searches by words and by names read, kept up to date with the rows that a transaction changes.

Postings, term counts, sums, name postings and aliases all follow from rows. Both the old and the new row of an element
are known, so what to remove and what to add is computed here, and no statement compares anything. A write of however
many elements enters all of it: what is written is found.

Some postings may not be where today's analysis of an old text puts them: another version of Python, with another
version of Unicode, wrote them. Nothing of a text may stay, so these are then looked for everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
from psycopg.types.json import Jsonb

from graphsearch._support.concurrency import aside, both
from graphsearch.claims.naming import cells_of, folded_name, names_of, words_of
from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.protocols.rows import EntityRow
from graphsearch.stores.in_postgres.session.rows import array, real_array, text_array, uuid_array
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.tables import name_hash
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import document, searchable_text, stepped

Element: TypeAlias = Entity | Memory | Relation
Words: TypeAlias = Mapping[UUID, Mapping[str, float]]
"""Words of entities in addition to their texts, with weights."""

WORD: Final = "w "
TRIGRAM: Final = "t "
"""The prefixes of terms of names."""
WAITING: Final = 2_000
"""So many changed elements of a kind are indexed at a time, and before more are remembered."""
TOGETHER: Final = 50_000
"""The most postings of one statement."""

Column: TypeAlias = Callable[[Sequence[Any]], Any]
Columns: TypeAlias = Mapping[str, Column]
"""By the name of a parameter: what makes its array of a column of rows."""
_INTEGERS: Final = partial(array, "integer")
_BIGINTS: Final = partial(array, "bigint")
_NAMES: Final[Columns] = {
    "terms": text_array,
    "sizes": _INTEGERS,
    "ids": uuid_array,
    "ordinals": _INTEGERS,
    "positions": _INTEGERS,
}
_ALIASES: Final[Columns] = {"ids": uuid_array, "ordinals": _INTEGERS, "names": text_array, "hashes": _BIGINTS}
_STEPS: Final[Columns] = {"terms": text_array, "steps": _BIGINTS}


@attrs.frozen(eq=False)
class Change:
    """An element before and after a transaction, None where it is not there, with its words."""

    old: Element | None
    new: Element | None
    old_words: Mapping[str, float] = attrs.field(factory=dict)
    new_words: Mapping[str, float] = attrs.field(factory=dict)

    @property
    def matters(self) -> bool:
        """Whether it changes by what the element is found; words are another matter."""
        return self.old is None or any(found_by(self.old) != found_by(self.new) for found_by in (_text, _names, _fact))


@attrs.define(eq=False)
class Upkeep:
    """Collects the changes of a transaction to elements, and indexes them at its end, or sooner if they are many."""

    session: Session
    _changes: dict[ElementKind, dict[Any, Change]] = attrs.field(factory=lambda: {kind: {} for kind in ElementKind})
    _words: dict[UUID, Mapping[str, float]] = attrs.field(factory=dict)
    _embedded: set[UUID] = attrs.field(factory=set)
    """The relations that got vectors."""

    async def put(self, kind: str, rows: Iterable[Any], before: Mapping[Any, Any]) -> None:
        """Rows that were written, with those that were stored; of kinds that are not indexed, nothing is kept."""
        if kind == "words":
            self._words.update({row.key: row.value for row in rows})
        elif kind == "relation_vector":
            self._embedded.update(row.key for row in rows)
        elif kind in ELEMENTS:
            await self._remember(kind, [(row.key, before.get(row.key) if before else None, row) for row in rows])

    async def drop(self, kind: str, before: Mapping[Any, Any]) -> None:
        """Rows that were removed."""
        if kind == "words":
            self._words.update({key: {} for key in before})
        elif kind in ELEMENTS:
            await self._remember(kind, [(key, row, None) for key, row in before.items()])

    async def finish(self, entities: Callable[[Collection[UUID]], Awaitable[Sequence[EntityRow]]]) -> None:
        """Index all that is left; ``entities`` reads some."""
        alone = [key for key in self._words if key not in self._changes[ElementKind.ENTITY]]
        if alone:  # words of entities that are as they were
            for row in await entities(alone):
                self._changes[ElementKind.ENTITY][row.key] = Change(row.entity, row.entity)
        for kind in ElementKind:
            await self._index(kind)
        if self._embedded:
            if not self.session.tally(ElementKind.RELATION).vectors:
                self.session.run_later(statement("list all facts"))
            self.session.run_later(_removing("unembedded_fact", "id"), ids=list(self._embedded))

    async def _remember(self, kind: str, rows: Iterable[tuple[Any, Any, Any]]) -> None:
        waiting = self._changes[ELEMENTS[kind]]
        for key, old, new in rows:
            known = waiting.get(key)
            change = Change(known.old if known else getattr(old, kind, None), getattr(new, kind, None))
            if known or change.matters or key in self._words:
                waiting[key] = change
        if len(waiting) >= WAITING:
            await self._index(ELEMENTS[kind])

    async def _index(self, kind: ElementKind) -> None:
        waiting, self._changes[kind] = self._changes[kind], {}
        if not waiting:
            return
        changes: Mapping[Any, Change] = waiting
        if kind is ElementKind.ENTITY:
            changes = await self._with_words(waiting)
            await self._index_names(changes)
        if kind is ElementKind.RELATION and self.session.tally(kind).vectors:
            _list_facts(self.session, changes)
        await index_documents(self.session, kind, changes)

    async def _with_words(self, changes: Mapping[UUID, Change]) -> Mapping[UUID, Change]:
        """The changes with the words of the entities, which are stored."""
        stored = await _stored_words(self.session, [key for key, each in changes.items() if each.old is not None])
        worded = {key: changes[key] for key in stored.keys() | self._words.keys() if key in changes}
        for key, each in worded.items():
            given = {} if each.new is None else self._words.get(key, stored.get(key, {}))
            words = {word: stepped(weight) for word, weight in given.items()}
            worded[key] = attrs.evolve(each, old_words=stored.get(key, {}), new_words=words)
        self._words = {key: words for key, words in self._words.items() if key not in worded}
        changed = {key: each.new_words for key, each in worded.items() if each.new_words != each.old_words}
        if gone := [key for key, words in changed.items() if not words]:
            self.session.run_later(_removing("entity_words", "id"), ids=gone)
        if kept := {key: Jsonb(words) for key, words in changed.items() if words}:
            self.session.run_later(statement("upsert words"), ids=list(kept), words=list(kept.values()))
        return {**changes, **worded} if worded else changes

    async def _index_names(self, changes: Mapping[UUID, Change]) -> None:
        made = await aside(lambda: NameDifference.of(changes), len(changes))
        added = made.added
        if await _removed(self.session, statement("remove name postings"), made.gone, _NAMES) < len(made.gone):
            self.session.run_later(_removing("name_posting", "entity_id"), ids=made.changed)
            added = [posting for key in made.changed for posting in name_postings(key, _names(changes[key].new))]
        await _write(self.session, statement("add name postings"), added, _NAMES)
        if made.had_aliases:
            self.session.run_later(_removing("entity_alias", "entity_id"), ids=made.had_aliases)
        await _write(self.session, statement("add aliases"), made.aliases, _ALIASES)


ELEMENTS: Final[Mapping[str, ElementKind]] = {kind.value: kind for kind in ElementKind}


def _removing(table: str, column: str) -> bytes:
    """The statement that removes the rows of some entities or relations from a table."""
    return statement("remove rows", ElementKind.ENTITY, table=table, column=column)


async def _stored_words(session: Session, ids: Collection[UUID]) -> dict[UUID, Mapping[str, float]]:
    """The words of entities in addition to their texts; entities without any are left out."""
    return dict(await session.rows_kept(statement("words of entities"), ids=list(ids))) if ids else {}


# -- documents -----------------------------------------------------------------------------------------------------


Posting: TypeAlias = tuple[str, str | bytes, float, float]
"""A term, an element (the bytes of an id), how often it has the term, and the length of its text."""
_IDS: Final[Mapping[ElementKind, Column]] = {**dict.fromkeys(ElementKind, uuid_array), ElementKind.MEMORY: text_array}


@attrs.define(eq=False)
class Difference:
    """What the last of some changes remove from postings and add to them, and what all of them add to the sums."""

    analyser: Analyser
    gone: list[Posting] = attrs.field(factory=list)
    added: list[Posting] = attrs.field(factory=list)
    losing: list[Any] = attrs.field(factory=list)
    """The elements some of whose postings are removed."""
    terms: Counter[str] = attrs.field(factory=Counter)
    """How many more documents have a term."""
    documents: int = 0
    length: float = 0.0

    def analyse(self, changes: Mapping[Any, Change]) -> None:
        """Take the next changes."""
        self.gone, self.added, self.losing = [], [], []
        for key, each in changes.items():
            old, new = _text(each.old), _text(each.new)
            if old != new or each.old_words != each.new_words:
                before = {} if old is None else document(old, each.old_words, self.analyser)
                self._add(key, before, {} if new is None else document(new, each.new_words, self.analyser))

    def _add(self, key: Any, before: Mapping[str, float], after: Mapping[str, float]) -> None:
        old, new = float(sum(before.values())), float(sum(after.values()))
        gone, added = before, after
        if old == new:
            gone = {term: number for term, number in before.items() if after.get(term) != number}
            added = {term: number for term, number in after.items() if before.get(term) != number}
        place = _place(key)
        if gone:
            self.losing.append(key)
            self.gone += [(term, place, number, old) for term, number in gone.items()]
        self.added += [(term, place, number, new) for term, number in added.items()]
        self.terms.update(added.keys())
        self.terms.subtract(gone.keys())
        self.documents += bool(after) - bool(before)
        self.length += new - old


async def index_documents(session: Session, kind: ElementKind, changes: Mapping[Any, Change]) -> None:
    """Bring postings, term counts and sums of a kind from the old elements to the new ones.

    The server writes what it was given while thousands are analysed.
    """
    keys, made, recounted = list(changes), Difference(session.analyser), set[str]()
    for at in range(0, len(keys), WAITING):
        part = {key: changes[key] for key in keys[at : at + WAITING]}
        analysis = aside(partial(made.analyse, part), len(part))
        await (both(analysis, session.flush()) if len(keys) >= WAITING else analysis)
        recounted |= await _move_postings(session, kind, part, made)
    steps = sorted((term, step) for term, step in made.terms.items() if step)
    await _write(session, statement("add to terms", kind), steps, _STEPS)
    if recounted:
        session.run_later(statement("count terms anew", kind), terms=sorted(recounted))
    if fewer := sorted(recounted.union(term for term, step in steps if step < 0)):
        session.run_later(statement("remove unused terms", kind), terms=fewer)
    if made.documents or made.length:
        session.run_later(statement("add to sums", kind), documents=made.documents, length=made.length)


async def _move_postings(
    session: Session, kind: ElementKind, changes: Mapping[Any, Change], made: Difference
) -> set[str]:
    """Remove and add postings; return the terms whose documents must be counted anew."""
    added, recounted = made.added, set[str]()
    columns: Columns = {"terms": text_array, "ids": _IDS[kind], "frequencies": real_array, "lengths": real_array}
    if await _removed(session, statement("remove postings", kind), made.gone, columns) < len(made.gone):
        swept, anew = set(made.losing), Difference(session.analyser)
        recounted = set(await session.column(statement("sweep postings", kind), ids=list(swept)))
        recounted.update(term for term, *_ in (*made.gone, *added))
        anew.analyse({key: attrs.evolve(changes[key], old=None, old_words={}) for key in swept})
        places = set(map(_place, swept))
        added = [each for each in added if each[1] not in places] + anew.added
    await _write(session, statement("add postings", kind), added, columns)
    return recounted


def _place(key: Any) -> str | bytes:
    """An element as postings have it."""
    return key if isinstance(key, str) else key.bytes


async def _write(session: Session, query: bytes, rows: Sequence[Sequence[Any]], columns: Columns) -> None:
    """Run a statement over rows, as an array for each of their columns."""
    for part in _parts(rows, columns):
        session.run_later(query, **part)
        if len(rows) > TOGETHER:
            await session.flush()


async def _removed(session: Session, query: bytes, rows: Sequence[Sequence[Any]], columns: Columns) -> int:
    """Run a statement that removes rows; return how many were there."""
    return sum([(await session.run(query, **part)).count for part in _parts(rows, columns)])


def _parts(rows: Sequence[Sequence[Any]], columns: Columns) -> Iterator[dict[str, Any]]:
    for at in range(0, len(rows), TOGETHER):
        cells = zip(*rows[at : at + TOGETHER], strict=True)
        yield {name: made(column) for (name, made), column in zip(columns.items(), cells, strict=True)}


def _text(element: Element | None) -> str | None:
    return None if element is None else searchable_text(element)


# -- facts without vectors -----------------------------------------------------------------------------------------


def _list_facts(session: Session, changes: Mapping[Any, Change]) -> None:
    """List relations whose fact is new, until it has a vector. A scope in which no fact has one keeps no list."""
    gone = [key for key, each in changes.items() if each.new is None]
    new = [key for key, each in changes.items() if _fact(each.new) and _fact(each.new) != _fact(each.old)]
    if gone:
        session.run_later(_removing("unembedded_fact", "id"), ids=gone)
    if new:
        session.run_later(statement("list facts"), ids=new)


def _fact(element: Element | None) -> str:
    """What a relation states, while it is not retracted."""
    return element.fact if isinstance(element, Relation) and element.retracted_at is None else ""


# -- names ---------------------------------------------------------------------------------------------------------


def _names(element: Element | None) -> tuple[str, ...]:
    return names_of(element) if isinstance(element, Entity) else ()


NamePosting: TypeAlias = tuple[str, int, bytes, int, int]
"""A term, the size of the name for a trigram, the entity, the place of the name, and that of the trigram."""


@attrs.define(eq=False)
class NameDifference:
    """The entities of some changes with other names, what goes from their postings and comes to them, and aliases."""

    changed: list[UUID] = attrs.field(factory=list)
    gone: list[NamePosting] = attrs.field(factory=list)
    added: list[NamePosting] = attrs.field(factory=list)
    had_aliases: list[UUID] = attrs.field(factory=list)
    aliases: list[tuple[bytes, int, str, int]] = attrs.field(factory=list)

    @classmethod
    def of(cls, changes: Mapping[UUID, Change]) -> NameDifference:
        """What changes of the names of entities."""
        made = cls()
        for key, each in changes.items():
            old, new = _names(each.old), _names(each.new)
            if old != new:
                before, after = set(name_postings(key, old)), set(name_postings(key, new))
                folded = map(folded_name, new[1:])
                made.changed.append(key)
                made.had_aliases += [key] * (len(old) > 1)
                made.gone += before - after
                made.added += after - before
                made.aliases += [(key.bytes, at, alias, name_hash(alias)) for at, alias in enumerate(folded, 1)]
        return made


def name_postings(key: UUID, names: Sequence[str]) -> Iterator[NamePosting]:
    """A word once, for the first name that contains it; a trigram for every name."""
    words = {word: at for at in reversed(range(len(names))) for word in words_of([names[at]])}
    place = key.bytes
    yield from ((WORD + word, 0, place, at, 0) for word, at in words.items())
    for at, name in enumerate(names):
        for cell in cells_of(folded_name(name)):
            yield (TRIGRAM + cell.trigram, cell.size, place, at, cell.position)
