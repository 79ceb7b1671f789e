"""Files of JSON lines, in parts of 500 lines: entities, relations and memories.

Each line is one object with exactly one of three keys:

    {"entity": {"type": "person", "name": "Ada", "description": "…", "aliases": ["…"], "labels": ["…"]}}
    {"relation": {"source": REF, "type": "works_at", "target": REF, "confidence": 0.95, "fact": "…"}}
    {"memory": {"id": "m1", "text": "…", "occurred_at": "2024-05-01T09:00:00Z",
                "mentions": [{"entity": REF, "surface": "Ada", "start": 0, "end": 3}],
                "claims": [{"source": REF, "type": "works_at", "target": REF, "confidence": 0.9}]}}
    {"memory": {"id": "m2", "text": "…", "facts": [{"subject": "Ada", "relation": "works at", "object": "Acme"}],
                "entities": [{"name": "Ada", "type": "person", "aliases": ["…"]}]}}

The fields are those of `Entity`, `Claim`, `Memory` and `Mention`; a span is given as ``start`` and ``end``, a time in
ISO 8601 with its offset. REF is ``{"type": …, "name": …}``, which creates the entity if necessary, or the id of an
existing entity as text. The text of a memory line with neither ``mentions`` nor ``claims`` goes through extraction,
with the ``facts`` and ``entities`` that are stated of it; see `graphsearch.ingest.sources.stated`. A relation line is a
claim of the file itself, by default structural and with confidence 0.95. A line is ingested as a whole or, with a fault
that lists every error in it, not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Described, Extraction, Fault, UnreadableError
from graphsearch.ingest.sources.fields import read_each, read_fields
from graphsearch.ingest.sources.files import MAX_BYTES, Folder, lines_of, opened
from graphsearch.ingest.sources.stated import read_stated
from graphsearch.model import Claim, EdgeKind, Entity, Memory, Mention, Span
from graphsearch.model import validation as check

EXTRACTOR: Final = "jsonl/4"
"""Changes whenever a line is parsed differently, so that known files are read again."""

_CONFIDENCE: Final = 0.95
_SPAN: Final = ("start", "end")
_REFERENCE: Final = ("type", "name")
_PERIOD: Final = ("valid_from", "valid_to")
_ENTITY: Final = (*_REFERENCE, "description", "aliases", "labels", "attributes", "importance_weight", *_PERIOD, "id")
_RELATION: Final = ("source", "type", "target", "confidence", "fact", "kind", "ceiling", *_PERIOD)
_CLAIM: Final = (*_RELATION, *_SPAN, "extractor")
_MENTION: Final = ("entity", "surface", *_SPAN, "confidence")
MEMORY: Final = ("id", "text", "subject", "speaker", "session_id", "position", "occurred_at", "source", "labels")
_WHOLE_MEMORY: Final = (*MEMORY, "attributes", "facts", "entities")
_PROOFS: Final = ("mentions", "claims")

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Record:
    """The content of one line.

    ``texts`` are memories whose text is still to be extracted. ``known`` are ids that the line gives, of entities that
    must exist.
    """

    line: int
    described: tuple[Entity, ...] = ()
    named: tuple[Entity, ...] = ()
    notes: tuple[Memory, ...] = ()
    texts: tuple[Memory, ...] = ()
    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()
    known: frozenset[UUID] = frozenset()

    @property
    def keys(self) -> list[UUID | str]:
        """The ids of its elements, each of which only one line may give."""
        return [*(each.id for each in self.described), *(each.id for each in (*self.notes, *self.texts))]


def read_line(content: bytes, *, path: str, line: int, memory_id: str) -> Record | None:
    """The record of one line, None for a blank one; ``memory_id`` is the memory that represents the file.

    Raises `UnreadableError` that lists every error in the line.
    """
    if len(content) > MAX_BYTES:
        raise UnreadableError(Fault(path, line, f"longer than {MAX_BYTES:,} bytes"))
    if not content.strip():
        return None
    try:
        return _Line(path, line, memory_id).read(check.parse_json(content))
    except InvalidInputError as error:
        raise UnreadableError(Fault(path, line, str(error))) from error
    except ValueError as error:
        raise UnreadableError(Fault(path, line, f"not valid JSON in UTF-8: {error}")) from error


def memory_fields(found: object) -> dict[str, Any]:
    """The fields of a memory without mentions and claims, from a JSON object.

    Raises `InvalidInputError` that lists every error.
    """
    return read_stated(read_fields("memory", found, _WHOLE_MEMORY, "id"))


@attrs.define
class _Line:
    """Parses the object of one line, and collects the entities that it refers to."""

    path: str
    number: int
    memory_id: str
    named: dict[UUID, Entity] = attrs.field(factory=dict)
    known: set[UUID] = attrs.field(factory=set)

    def read(self, found: object) -> Record:
        readers = {"entity": self._entity, "relation": self._relation, "memory": self._memory}
        kind, content = next(iter(found.items())) if isinstance(found, dict) and len(found) == 1 else ("", None)
        if kind not in readers:
            raise InvalidInputError("line", [f"must be an object with one key of {', '.join(readers)}"])
        return attrs.evolve(readers[kind](content), named=tuple(self.named.values()), known=frozenset(self.known))

    def _entity(self, content: object) -> Record:
        given = read_fields("entity", content, _ENTITY, "type", "name")
        given["attributes"] = {"source": self.path, **given.get("attributes", {})}
        if "id" in given:
            given["id"] = self._known("id", given["id"])
        entity = Entity(**given)
        return Record(line=self.number, described=(entity,), mentions=(_mention_of(entity, self.memory_id),))

    def _relation(self, content: object) -> Record:
        claim = self._claim(content, _RELATION, self.memory_id, EdgeKind.STRUCTURAL)
        ends = tuple(_mention_of(entity, self.memory_id) for entity in self.named.values())
        return Record(line=self.number, claims=(claim,), mentions=ends)

    def _memory(self, content: object) -> Record:
        given = read_stated(read_fields("memory", content, (*_WHOLE_MEMORY, *_PROOFS), "id"))
        proofs = {name: given.pop(name) for name in _PROOFS if name in given}
        both = proofs and {"facts", "entities"} & {*given}
        reserved = str(given["id"]).startswith("file:")
        check.refuse(
            "memory",
            "has facts or entities and mentions or claims as well: give either" if both else None,
            "an id that starts with 'file:' is reserved for a file; choose another one" if reserved else None,
        )
        memory = Memory(**{"source": self.path, **given})
        if not proofs:
            return Record(line=self.number, texts=(memory,))
        claims = _all(lambda each: self._claim(each, _CLAIM, memory.id, EdgeKind.SEMANTIC), proofs.get("claims", ()))
        mentions = _all(lambda each: self._mention(each, memory.id), proofs.get("mentions", ()))
        mentioned = {mention.entity_id for mention in mentions}
        mentions += [_mention_of(end, memory.id) for end in self.named.values() if end.id not in mentioned]
        return Record(line=self.number, notes=(memory,), mentions=tuple(mentions), claims=tuple(claims))

    def _claim(self, content: object, allowed: Sequence[str], memory_id: str, kind: EdgeKind) -> Claim:
        given = _with_span("claim", read_fields("claim", content, allowed, "source", "type", "target"))
        source, target = _all(self._refer, [given.pop("source"), given.pop("target")])
        check.refuse("claim", "it relates an entity to itself" if source == target else None)
        sure = {"kind": kind, "confidence": _CONFIDENCE, "extractor": EXTRACTOR, **given}
        return Claim(memory_id=memory_id, source_id=source, target_id=target, **sure)

    def _mention(self, content: object, memory_id: str) -> Mention:
        given = _with_span("mention", read_fields("mention", content, _MENTION, "entity", "surface"))
        return Mention(memory_id=memory_id, entity_id=self._refer(given.pop("entity")), **given)

    def _refer(self, reference: object) -> UUID:
        if isinstance(reference, str):
            return self._known("reference", reference)
        entity = Entity(**read_fields("reference", reference, _REFERENCE, *_REFERENCE))
        return self.named.setdefault(entity.id, entity).id

    def _known(self, name: str, value: object) -> UUID:
        """The id of an entity that must exist."""
        try:
            known = UUID(value if isinstance(value, str) else "")
        except ValueError as error:
            raise InvalidInputError(name, [f"must be the id of an entity, or {{type, name}}, not {value!r}"]) from error
        self.known.add(known)
        return known


def _mention_of(entity: Entity, memory_id: str) -> Mention:
    return Mention(memory_id=memory_id, entity_id=entity.id, surface=entity.name)


def _all(read: Callable[[object], T], items: Iterable[object]) -> list[T]:
    """The parsed items. Raises `InvalidInputError` with the faults of all."""
    found, faults = read_each((("", item) for item in items), read)
    check.refuse("memory" if len(faults) > 1 else "in it", *faults)
    return found


def _with_span(subject: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields with their ``start`` and ``end`` as a span."""
    given = [fields.pop(name) for name in _SPAN if name in fields]
    check.refuse(subject, "start and end must be given together" if len(given) == 1 else None)
    return {**fields, "span": Span(start=given[0], end=given[1])} if given else fields


# -- files ------------------------------------------------------------------------------------------------------------

PART_LINES: Final = 500
"""Lines of JSON in one part, which is written as a whole."""


@attrs.define(eq=False)
class JsonSource:
    """Reads JSON lines. A bad line, or one that repeats an element of another, is a fault and is left out."""

    folder: Folder
    faults: list[Fault] = attrs.field(factory=list)
    referred: set[UUID] = attrs.field(factory=set)
    """Ids that lines refer to."""
    missing: frozenset[UUID] = frozenset()
    """Those of ``referred`` that do not exist; set between the two passes."""
    _places: dict[UUID | str, tuple[str, int]] = attrs.field(factory=dict)

    @property
    def faulty(self) -> set[str]:
        """Files with bad lines."""
        return {fault.path for fault in self.faults}

    def gives(self, note_id: str) -> bool:
        """Whether some file contains this memory."""
        return note_id in self._places

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """The entities of the file's entity lines."""
        for _, records in self._parts(path, self.faults):
            own = [record for record in records if self._is_first(record, path)]
            self.referred.update(id_ for record in own for id_ in record.known)
            yield tuple(Described(entity) for record in own for entity in record.described)

    def extract(self, path: str) -> Iterator[Extraction]:
        """One extraction for every `PART_LINES` lines."""
        for part, records in self._parts(path, []):
            valid = [record for record in records if self._is_valid(record, path)]
            mentions = {(m.memory_id, m.entity_id, m.span): m for record in valid for m in record.mentions}
            notes = sorted(note.id for record in valid for note in (*record.notes, *record.texts))
            yield Extraction(
                memory=Memory(id=part, source=path, attributes={"notes": notes}),
                named=tuple({entity.id: entity for record in valid for entity in record.named}.values()),
                notes=tuple(note for record in valid for note in record.notes),
                texts=tuple(text for record in valid for text in record.texts),
                mentions=tuple(mentions.values()),
                claims=tuple(dict.fromkeys(claim for record in valid for claim in record.claims)),
            )

    def _is_first(self, record: Record, path: str) -> bool:
        """Whether a record is the first with each of its elements; records a fault if it is not."""
        here = (path, record.line)
        first = next((each for key in record.keys if (each := self._places.setdefault(key, here)) != here), None)
        if first:
            message = f"given already at {first[0]}:{first[1]}; this line was left out"
            self.faults.append(Fault(path, record.line, message))
        return first is None

    def _is_valid(self, record: Record, path: str) -> bool:
        if any(self._places[key] != (path, record.line) for key in record.keys):
            return False
        if dangling := ", ".join(map(str, sorted(record.known & self.missing))):
            self.faults.append(Fault(path, record.line, f"there is no entity {dangling}; give it by type and name"))
        return not dangling

    def _parts(self, path: str, faults: list[Fault]) -> Iterator[tuple[str, list[Record]]]:
        """The parts of a file: ids and records."""
        records: list[Record] = []
        part = 1
        with opened(self.folder, path) as file:
            for line, content in lines_of(file):
                if line > part * PART_LINES:
                    yield _part_id(path, part), records
                    records, part = [], part + 1
                try:
                    record = read_line(content, path=path, line=line, memory_id=_part_id(path, part))
                except UnreadableError as error:
                    faults.append(error.fault)
                else:
                    records += [record] if record else []
        yield _part_id(path, part), records


def _part_id(path: str, part: int) -> str:
    return f"file:{path}" if part == 1 else f"file:{path}#{part}"
