"""Stated facts and names of memories to names and claims, in the order of the memories, with a report on each fact."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.claims.folding import BESIDE, CO_OCCURRENCE_TYPES
from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.ingest.frames.table import KINDS, folded, table, words
from graphsearch.ingest.stating.grounding import Proof, prove
from graphsearch.ingest.stating.phrases import COMMON, Kind, Phrase
from graphsearch.ingest.stating.reading import Reading, RefusalError, demand_names, is_alias, read_fact
from graphsearch.ingest.stating.scope import (
    LONGEST_PHRASE,
    ORGANISATION,
    PERSON,
    SPLIT,
    VALUE,
    End,
    Held,
    Name,
    Scope,
    capitalised,
    guessed_kind,
    kind_of,
    name_parts,
)
from graphsearch.model import (
    EdgeKind,
    Entity,
    Fact,
    FactReport,
    FactStatus,
    Memory,
    NamedEntity,
    Relation,
    RelationType,
    Span,
)
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement
from graphsearch.model.identity import snake_case
from graphsearch.protocols import GraphStore
from graphsearch.text.trigrams import name_words

STATED: Final = "stated"
"""The name of the extractor of claims that were stated."""
UNGROUNDED: Final = 0.6
"""The confidence above which facts prove nothing that no text proves."""
QUOTED, UNQUOTED, UNMAPPED, NAMED = 0.9, 0.8, 0.7, 0.95
SHORTEST_QUOTE: Final = 3
MOST_RELATIONS: Final = 300
"""Most relations of a name that are read."""
MAKERS: Final = frozenset({"owns", "created"})
"""Types whose source is a person or an organisation: a name of two words is rather a person's."""
SINGLE: Final = frozenset({"price", "size", "birth_date"})
"""Types of values, not declared functional, of which one holds at a time."""


@attrs.frozen
class Stated:
    """What the givers of a memory state of it: to be resolved and written, and reported; descriptions by name."""

    extracted: ExtractedMemory
    reports: tuple[FactReport, ...] = ()
    descriptions: Mapping[str, str] = attrs.field(factory=dict)


@attrs.define(eq=False)
class _Claim:
    """A claim to be written, with the dates that are stated of it."""

    held: Held
    since: datetime | None
    until: datetime | None
    confidence: float
    ceiling: float
    text: str
    span: Span | None
    also: bool


@attrs.define(eq=False)
class _Draft:
    """What is stated of one memory, while it is read; ``span`` is where its text proves a statement."""

    memory: Memory
    mentions: dict[tuple[Name, str], float] = attrs.field(factory=dict)
    claims: list[_Claim] = attrs.field(factory=list)
    reports: list[FactReport] = attrs.field(factory=list)
    same: list[tuple[str, Name]] = attrs.field(factory=list)
    undated: list[_Claim] = attrs.field(factory=list)
    last: datetime | None = None

    def name(self, end: Name | str, written: str, confidence: float = QUOTED) -> None:
        """Note that the memory names something; a value is no name."""
        if isinstance(end, Name):
            self.mentions[end, written] = max(confidence, self.mentions.get((end, written), 0.0))


class Stating:
    """Turns what the givers of memories state into names and statements, for one ingest.

    It knows the names and the facts of the scope that the principal of the gate may see, and what was stated before.
    """

    def __init__(
        self, store: GraphStore, gate: Gate, *, require_quotes: bool = False, refuse_ungrounded: bool = False
    ) -> None:
        self._store = store
        self._gate = gate
        self._require_quotes = require_quotes
        self._refuse_ungrounded = refuse_ungrounded
        self._scope = Scope()
        self._entities: dict[UUID, Name] = {}
        self._read: set[UUID] = set()
        self._seen: dict[str, str] = {}
        self._types: Mapping[str, RelationType] = {}

    async def read(self, memories: Sequence[Memory]) -> Mapping[str, Stated]:
        """What is stated of each memory, by id; without those of which nothing is stated."""
        given = [each for each in memories if each.facts or each.entities]
        if not given:
            return {}
        await self._seed(given)
        drafts = await asyncio.to_thread(lambda: [self._memory(each) for each in given])
        return {each.memory.id: self._stated(each) for each in drafts}

    # -- the scope ---------------------------------------------------------------------------------------------------

    async def _seed(self, memories: Sequence[Memory]) -> None:
        """Look up the names and the standing facts that memories may speak of."""
        self._types = await self._store.relation_types()
        ends = [each.speaker for each in memories if each.speaker]
        ends += [text for each in memories for fact in each.facts for text in (fact.subject, fact.object)]
        ends += [name for each in memories for named in each.entities for name in (named.name, *named.aliases)]
        texts = (*ends, *(word for each in memories for word in capitalised(each.text)))
        sought = {word for text in texts for word in name_words(text)}
        found = await self._store.find_name_words(sorted(sought), limit=20) if sought else ()
        await self._add([each.entity_id for each in found])
        parts = [{*name_parts(part)} for text in ends for part in (text, *SPLIT.split(text))]
        known = {each.entity.id: {*name_parts(each.name)} for each in self._scope.names if each.entity}
        having: defaultdict[str, set[UUID]] = defaultdict(set)
        for id_, own in known.items():
            for word in own:
                having[word].add(id_)
        near = ((part, id_) for part in parts for id_ in set().union(*(having.get(word, ()) for word in part)))
        named = {id_ for part, id_ in near if known[id_] <= part or part <= known[id_]}
        of_facts = {memory.id for memory in memories}
        for id_ in sorted(named - self._read):
            self._read.add(id_)
            relations = await self._store.list_relations(entity_id=id_, limit=MOST_RELATIONS)
            relations = [each for each in relations if not each.evidence or not set(each.evidence) <= of_facts]
            if relations and not self._gate.allows_all:
                async with reading(self._store, gate=self._gate) as reader:
                    relations = await reader.shown(relations)
            await self._add([end for each in relations for end in (each.source_id, each.target_id)])
            for each in relations:
                self._hold(each)

    async def _add(self, ids: Iterable[UUID]) -> None:
        new = sorted(set(ids) - self._entities.keys())
        if not new:
            return
        entities: Sequence[Entity] = await self._store.get_entities(new)
        if not self._gate.allows_all:
            async with reading(self._store, gate=self._gate) as reader:
                entities = await reader.get_entities(new)
        for entity in entities:
            if entity.merged_into is not None:
                continue
            type_ = "" if entity.type in UNKNOWN_TYPES else entity.type
            forms = {folded(each) for each in (entity.name, *entity.aliases)}
            name = Name(entity.name, type_, forms, hint=guessed_kind(entity.name), entity=entity)
            self._entities[entity.id] = name
            if entity.type != VALUE:
                self._scope.know(name)

    def _hold(self, relation: Relation) -> None:
        """Let the scope hold a stored relation; it tells kinds of its ends."""
        source, target = self._entities.get(relation.source_id), self._entities.get(relation.target_id)
        if source is None or target is None or relation.type in CO_OCCURRENCE_TYPES:
            return
        value = target.entity is not None and target.entity.type == VALUE
        held = Held(source, relation.type, target.name if value else target, relation.valid_from, relation.valid_to)
        if any(
            each.is_of(source, held.type, held.target) and each.since == held.since
            for each in self._scope.about(source)
        ):
            return
        self._scope.hold(held)
        _vote(held)

    # -- a memory ----------------------------------------------------------------------------------------------------

    def _memory(self, memory: Memory) -> _Draft:
        draft = _Draft(memory)
        if memory.speaker and memory.facts:
            speaker = self._scope.add(End(memory.speaker, self._scope.known(memory.speaker), Kind(PERSON, True)))
            speaker.votes[PERSON] += 1
            if self._scope.knows(speaker):  # a fuller name of somebody who is known
                draft.name(speaker, memory.speaker)
        for named in memory.entities:
            self._entity(named, draft)
        first = sorted(range(len(memory.facts)), key=lambda at: not is_alias(memory.facts[at]))
        reports = {at: self._fact(memory.facts[at], draft) for at in first}  # what names are one comes first
        draft.reports = [reports[at] for at in range(len(memory.facts))]
        self._seen[memory.session_id] = f"{self._seen.get(memory.session_id, '')}\n{folded(memory.text)}"[-20_000:]
        return draft

    def _entity(self, named: NamedEntity, draft: _Draft) -> None:
        name = self._scope.add(End(named.name, self._scope.known(named.name), Kind(kind_of(named.type), True)))
        name.type = name.type or snake_case(named.type)
        name.description = name.description or named.description
        for each in (named.name, *named.aliases):
            self._scope.know(name, each)
            draft.name(name, each, NAMED)

    def _fact(self, fact: Fact, draft: _Draft) -> FactReport:
        """State one fact; what becomes of it."""
        if self._require_quotes and not fact.quote:
            return _refused(draft, fact, "no quote")
        try:
            if is_alias(fact):
                return self._alias(fact, draft)
            own = self._types.keys() - table().types
            reading = read_fact(fact, draft.memory, self._scope, own, draft.last)
        except RefusalError as error:
            return _refused(draft, fact, str(error))
        draft.last = reading.until or reading.since or draft.last
        outcome = _Outcome(reading, draft)
        if not reading.objects:
            self._end_all(outcome)
        for subject in reading.subjects:
            for each in reading.objects:
                self._state(outcome, subject, each)
        if reading.role and not (outcome.refused or outcome.against or reading.phrase.inverse or reading.phrase.closes):
            source = self._scope.add(reading.subjects[0])
            self._claim(outcome, Held(source, "role", reading.role, reading.since, reading.until, draft.memory.id))
        return outcome.report()

    def _alias(self, fact: Fact, draft: _Draft) -> FactReport:
        """Let two names be one: the longer stays, and the other leads to it."""
        ends = [
            self._scope.ends(each, draft.memory, None, is_object=False)[0][0] for each in (fact.subject, fact.object)
        ]
        demand_names(ends)
        if any(each.is_value for each in ends):
            raise RefusalError("a value is no name")
        names = [self._scope.add(each) for each in ends]
        short, full = sorted(names, key=lambda each: (each.entity is not None, len(each.name.split()), len(each.name)))
        status = FactStatus.CONFIRMED if short is full else FactStatus.NEW
        if short is not full and short.entity is not None:
            raise RefusalError("both are known as two: merge them")
        self._scope.join(short, full)
        draft.mentions = {
            (full if name is short else name, form): sure for (name, form), sure in draft.mentions.items()
        }
        for each in ends:
            draft.name(full, each.written)
        draft.same.append((short.name, full))
        return FactReport(memory_id=draft.memory.id, fact=fact, status=status, held=(full.name, "same_as", short.name))

    def _state(self, outcome: _Outcome, subject: End, object_: End) -> None:
        """State a fact of two ends, unless the text says otherwise."""
        phrase, draft, scope, reading = outcome.phrase, outcome.draft, self._scope, outcome.reading
        first, second = (object_, subject) if phrase.inverse and phrase.type else (subject, object_)
        if first.is_value:
            outcome.refuse("its subject is a value")
            return
        source = scope.add(first)
        scope.recent.append(source)
        common = second.name is None and second.kind.kind == COMMON
        as_value = second.is_value or (common and _is_phrase(second, phrase))
        target: Name | str = second.written if as_value else scope.add(second)
        if source is target:
            outcome.refuse("both ends are one")
            return
        over = phrase.closes or phrase.denied or reading.until is not None
        seen = self._seen.get(draft.memory.session_id, "")
        outcome.see(prove(draft.memory, reading.fact.quote, (source, target), phrase, scope, seen=seen, over=over))
        if self._refuse_ungrounded and not outcome.grounded:
            outcome.refuse("not grounded")
        if outcome.against or outcome.refused:
            return
        draft.name(source, first.written)
        draft.name(target, second.written)
        type_ = phrase.type or phrase.normal
        if phrase.denied or phrase.closes:
            self._end(outcome, source, type_, target)
            return
        self._begin(outcome, source, type_, target)
        leader = type_ == "leads" and phrase.noun in words("heads")
        if leader and isinstance(target, Name) and target.kind not in ("group", "thing", "place"):
            self._begin(outcome, source, "works_at", target)

    def _end(self, outcome: _Outcome, source: Name, type_: str, target: Name | str) -> None:
        """State that a fact holds no longer, or that it does not."""
        at, until = self._time(outcome.draft), outcome.reading.until
        known = [each for each in self._scope.about(source) if each.is_of(source, type_, target)]
        stand = [each for each in known if each.stands(at)]
        if known and not stand and until is None:  # what took its place has ended it
            outcome.held, outcome.confirmed = known[-1], True
        elif outcome.phrase.denied and not stand and type_ == "prefers":  # "is no fan of"
            self._begin(outcome, source, "dislikes", target)
        elif outcome.phrase.denied and not stand:
            outcome.refuse("a denial is no fact")
        else:
            outcome.about += [str(each) for each in stand]
            claim = self._close(outcome, source, type_, target, until or at)
            outcome.held = outcome.held or claim.held
            claim.since = outcome.reading.since
            if until is None:
                outcome.draft.undated.append(claim)

    def _begin(self, outcome: _Outcome, source: Name, type_: str, target: Name | str) -> None:
        """State that a fact holds."""
        since, until = outcome.reading.since, outcome.reading.until
        start = since or self._time(outcome.draft)
        stand = self._scope.standing(source, type_, start, target)
        if not stand and not outcome.reading.also:
            self._supersede(outcome, source, type_, target, start)
        held = Held(source, type_, target, since, until, outcome.draft.memory.id)
        self._claim(outcome, held)
        outcome.held, outcome.confirmed = outcome.held or held, outcome.confirmed or bool(stand)
        if until is not None and type_ == "works_at":
            self._follow(outcome, source, until)

    def _time(self, draft: _Draft) -> datetime:
        return draft.memory.occurred_at or self._store.clock.now()

    def _supersede(self, outcome: _Outcome, source: Name, type_: str, target: Name | str, start: datetime) -> None:
        """End what a fact takes the place of: another target where there is one at a time, the holder before."""
        known = self._types.get(type_)
        functional, here = known is not None and known.functional, outcome.draft.memory.id
        for each in self._scope.about(source, target):
            begins_later = each.since is not None and each.since >= start
            if each.type != type_ or each.memory_id == here or begins_later or not each.stands(start):
                continue
            opens = outcome.reading.since is not None or outcome.phrase.opens
            of_source = each.source is source and each.target is not target and each.target != target
            led = type_ == "leads" and each.target is target and each.source is not source and opens
            if not (led or (of_source and (functional or type_ in SINGLE))):
                continue
            outcome.about.append(str(each))
            if functional and of_source:  # the fold ends it
                each.until = start
            else:
                self._close(outcome, each.source, type_, each.target, start)

    def _close(self, outcome: _Outcome, source: Name, type_: str, target: Name | str, end: datetime) -> _Claim:
        """Claim that something ended."""
        for each in self._scope.standing(source, type_, end, target):
            each.until = end
        claim = self._claim(outcome, Held(source, type_, target, None, end, outcome.draft.memory.id))
        for end_ in (source, target):
            outcome.draft.name(end_, str(end_))
        if type_ == "works_at":
            self._follow(outcome, source, end)
        return claim

    def _follow(self, outcome: _Outcome, person: Name, end: datetime) -> None:
        """Who leaves an employer reports to nobody there."""
        for each in self._scope.standing(person, "reports_to", end):
            if each.memory_id != outcome.draft.memory.id:
                outcome.about.append(str(each))
                self._close(outcome, person, "reports_to", each.target, end)

    def _end_all(self, outcome: _Outcome) -> None:
        """End all that stands of a type: "resigned", "stopped using it"."""
        at = self._time(outcome.draft)
        for subject in outcome.reading.subjects:
            for each in self._scope.standing(subject.name, outcome.phrase.type, at) if subject.name else ():
                outcome.about.append(str(each))
                outcome.draft.name(each.source, subject.written)
                claim = self._close(outcome, each.source, each.type, each.target, outcome.reading.until or at)
                outcome.held = outcome.held or claim.held
        if not outcome.about:
            outcome.refuse("nothing is known that it ends")

    def _claim(self, outcome: _Outcome, held: Held) -> _Claim:
        """Note a claim of the fact's memory, as sure as the fact is proven."""
        fact, draft, quoted = outcome.reading.fact, outcome.draft, outcome.quoted
        sure = fact.confidence
        if sure is None:
            sure = UNMAPPED if not outcome.phrase.type else QUOTED if quoted else UNQUOTED
        quote = draft.memory.text[quoted.start : quoted.end].split() if quoted else []
        text = quote if len(quote) > SHORTEST_QUOTE else f"{fact.subject} {fact.relation} {fact.object}".split()
        ceiling = 1.0 if outcome.grounded else UNGROUNDED
        claim = _Claim(held, held.since, held.until, sure, ceiling, " ".join(text), quoted, outcome.reading.also)
        draft.claims.append(claim)
        self._scope.hold(held)
        _vote(held)
        return claim

    # -- what is written ---------------------------------------------------------------------------------------------

    def _stated(self, draft: _Draft) -> Stated:
        memory = draft.memory
        for ended in draft.undated:  # an ending without a date takes that of what begins in its place
            begun = [each.since for each in draft.claims if _takes_place(each.held, ended.held)]
            ended.until = next(filter(None, begun), ended.until)
        surfaces = {each: _extracted(*each, confidence, memory) for each, confidence in draft.mentions.items()}
        of_name = {name: surface for (name, _), surface in reversed(surfaces.items())}
        statements = []
        for each in draft.claims:
            source, target = (
                (not isinstance(end, str) and of_name.get(end)) or _extracted(end, str(end), each.confidence, memory)
                for end in (each.held.source, each.held.target)
            )
            if source.name == target.name and source.type == target.type:
                continue
            statements.append(
                Statement(
                    source=source,
                    type=each.held.type,
                    target=target,
                    confidence=each.confidence,
                    kind=EdgeKind.SEMANTIC,
                    valid_from=None if each.until and each.since and each.since >= each.until else each.since,
                    valid_to=each.until,
                    fact=each.text,
                    span=each.span or Span(start=0, end=len(memory.text)),
                    pattern=each.held.type,
                    extractor=BESIDE if each.also else STATED,
                    ceiling=each.ceiling,
                )
            )
        same = tuple((short, _canonical(full)) for short, full in draft.same if short != _canonical(full))
        descriptions = {_canonical(name): name.description for name, _ in draft.mentions if name.description}
        extracted = ExtractedMemory(
            memory_id=memory.id, surfaces=tuple(surfaces.values()), statements=tuple(statements), same=same
        )
        return Stated(extracted, tuple(draft.reports), descriptions)


def _takes_place(new: Held, old: Held) -> bool:
    """Whether a fact takes the place of another: another target of its source, or another source of its target."""
    return new.type == old.type and (new.source is old.source) != (new.target is old.target)


@attrs.define(eq=False)
class _Outcome:
    """What becomes of a fact, with all of its ends."""

    reading: Reading
    draft: _Draft
    why: list[str] = attrs.field(factory=list)
    about: list[str] = attrs.field(factory=list)
    against: list[str] = attrs.field(factory=list)
    refused: str = ""
    held: Held | None = None
    quoted: Span | None = None
    grounded: bool = True
    confirmed: bool = False

    @property
    def phrase(self) -> Phrase:
        """What its phrase states."""
        return self.reading.phrase

    def see(self, proof: Proof) -> None:
        """Note how far the text proves it."""
        self.quoted = self.quoted or proof.quoted
        self.grounded = self.grounded and not proof.why
        self.against += proof.against
        self.why += [each for each in proof.why if each not in self.why]

    def refuse(self, why: str) -> None:
        """Note why it, or a part of it, was not written."""
        self.refused = self.refused or why

    def report(self) -> FactReport:
        """What became of it."""
        if self.held is None:
            status = FactStatus.CONTRADICTS if self.against else FactStatus.REFUSED
        else:
            status = FactStatus.ENDS if self.about else FactStatus.CONFIRMED if self.confirmed else FactStatus.NEW
        why = (self.refused, *self.against, *self.reading.unread, *self.why)
        return FactReport(
            memory_id=self.draft.memory.id,
            fact=self.reading.fact,
            status=status,
            held=self.held.ends if self.held else None,
            grounded=self.grounded,
            mapped=bool(self.phrase.type),
            about=tuple(dict.fromkeys(self.about)),
            why="; ".join(dict.fromkeys(filter(None, why))),
        )


def _refused(draft: _Draft, fact: Fact, why: str) -> FactReport:
    return FactReport(memory_id=draft.memory.id, fact=fact, status=FactStatus.REFUSED, why=why)


def _is_phrase(end: End, phrase: Phrase) -> bool:
    """Whether an unknown end in lower case is a value: no type takes it for a name, or it is too long for one."""
    frame = phrase.frame
    is_name = frame is not None and "*" not in frame.target and not {*"pogt"}.isdisjoint(frame.target + frame.source)
    return not is_name or len(end.written.split()) > LONGEST_PHRASE


@lru_cache(maxsize=1 << 10)
def _kinds(type_: str) -> tuple[str, str]:
    """The kinds that a type tells of its ends; "" for those that it does not."""
    frames = [each for each in table().frames if each.type == type_]
    ends = [each.source for each in frames], [each.target for each in frames]
    sure = [{letter for each in some for letter in each.partition("(")[0].strip()} for some in ends]
    source, target = (KINDS.get(min(letters), "") if len(letters) == 1 else "" for letters in sure)
    return source, target


def _vote(held: Held) -> None:
    source, target = _kinds(held.type)
    if source:
        held.source.votes[source] += 1
    elif held.type in MAKERS and len(held.source.name.split()) == 2:  # noqa: PLR2004
        held.source.hint = held.source.hint or PERSON
    if target and isinstance(held.target, Name) and target != VALUE and held.type not in MAKERS:
        held.target.votes[target] += 1


def _canonical(name: Name) -> str:
    return name.entity.name if name.entity is not None else name.name


def _public_type(name: Name) -> str:
    """The entity type that is known of a name; a group is an organisation."""
    if name.type or not name.is_proven:
        return name.type
    return {PERSON: PERSON, ORGANISATION: ORGANISATION, "group": ORGANISATION, "place": "place"}.get(name.kind, "")


def _extracted(end: Name | str, written: str, confidence: float, memory: Memory) -> ExtractedName:
    text, lower = memory.text, memory.text.casefold()
    at = lower.find(written.casefold()) if len(lower) == len(text) else text.find(written)
    return ExtractedName(
        name=end if isinstance(end, str) else _canonical(end),
        type=VALUE if isinstance(end, str) else _public_type(end),
        span=None if at < 0 else Span(start=at, end=at + len(written)),
        confidence=confidence,
        pattern=STATED,
        written=written,
    )
