"""Stated facts and names of memories to names and claims, in the order of the memories, with a report on each fact."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.claims.folding import BESIDE, CO_OCCURRENCE_TYPES
from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.ingest.frames.table import KINDS, folded, table, words
from graphsearch.ingest.stating.ends import LONGEST_PHRASE, find_ends, guess_kind
from graphsearch.ingest.stating.grounding import prove
from graphsearch.ingest.stating.phrases import COMMON, Kind, Phrase
from graphsearch.ingest.stating.reading import Reading, RefusalError, demand_names, is_alias, read_fact
from graphsearch.ingest.stating.scope import (
    ORGANISATION,
    PERSON,
    VALUE,
    End,
    Held,
    Name,
    Scope,
    capitalised,
    kind_of,
    name_parts,
)
from graphsearch.model import (
    EdgeKind,
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
from graphsearch.stores.graph import GraphStore
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
class _Draft:
    """What is stated of one memory, while it is read."""

    memory: Memory
    mentions: dict[tuple[Name, str], float] = attrs.field(factory=dict)
    claims: list[Held] = attrs.field(factory=list)
    reports: tuple[FactReport, ...] = ()
    same: list[tuple[str, Name]] = attrs.field(factory=list)
    last: datetime | None = None
    """The date that was stated last."""

    def name(self, end: Name | str, written: str, confidence: float = QUOTED) -> None:
        """Note that the memory names something; a value is no name."""
        if isinstance(end, Name):
            self.mentions[end, written] = max(confidence, self.mentions.get((end, written), 0.0))


@attrs.define(eq=False)
class _Outcome:
    """What becomes of a fact, with all of its ends."""

    fact: Fact
    draft: _Draft
    reading: Reading | None = None
    held: tuple[str, str, str] | None = None
    about: list[str] = attrs.field(factory=list)
    why: list[str] = attrs.field(factory=list)
    against: list[str] = attrs.field(factory=list)
    refused: list[str] = attrs.field(factory=list)
    quoted: Span | None = None
    grounded: bool = True
    confirmed: bool = False

    @property
    def stopped(self) -> bool:
        """Whether the fact, or a part of it, is not written."""
        return bool(self.refused or self.against)

    def report(self) -> FactReport:
        """What became of it."""
        if self.held is None:
            status = FactStatus.CONTRADICTS if self.against else FactStatus.REFUSED
        else:
            status = FactStatus.ENDS if self.about else FactStatus.CONFIRMED if self.confirmed else FactStatus.NEW
        return FactReport(
            memory_id=self.draft.memory.id,
            fact=self.fact,
            status=status,
            held=self.held,
            grounded=self.grounded,
            mapped=self.reading is None or bool(self.reading.phrase.type),
            about=tuple(dict.fromkeys(self.about)),
            why="; ".join(dict.fromkeys((*self.refused[:1], *self.against, *self.why))),
        )


@attrs.define(eq=False)
class Stating:
    """Turns what the givers of memories state into names and statements, for one ingest.

    It knows the names and the facts of the scope that the principal of the gate may see, and what was stated before.
    """

    _store: GraphStore
    _gate: Gate
    _require_quotes: bool = attrs.field(default=False, kw_only=True, alias="require_quotes")
    _refuse_ungrounded: bool = attrs.field(default=False, kw_only=True, alias="refuse_ungrounded")
    _scope: Scope = attrs.field(factory=Scope, init=False)
    _entities: dict[UUID, Name] = attrs.field(factory=dict, init=False)
    _read: set[UUID] = attrs.field(factory=set, init=False)
    _seen: dict[str, str] = attrs.field(factory=dict, init=False)
    _types: Mapping[str, RelationType] = attrs.field(factory=dict, init=False)

    async def read(self, memories: Sequence[Memory]) -> Mapping[str, Stated]:
        """What is stated of each memory, by id; without those of which nothing is stated."""
        given = [each for each in memories if each.facts or each.entities]
        if not given:
            return {}
        async with reading(self._store, gate=self._gate) as reader:
            await self._seed(given, reader)
        drafts = await asyncio.to_thread(lambda: [self._memory(each) for each in given])
        return {each.memory.id: _stated(each) for each in drafts}

    # -- the scope ---------------------------------------------------------------------------------------------------

    async def _seed(self, memories: Sequence[Memory], reader: Reader) -> None:
        """Look up the names and the standing facts that memories may speak of."""
        self._types = await self._store.relation_types()
        ends = [each.speaker for each in memories if each.speaker]
        ends += [text for each in memories for fact in each.facts for text in (fact.subject, fact.object)]
        ends += [name for each in memories for named in each.entities for name in (named.name, *named.aliases)]
        texts = (*ends, *(word for each in memories for word in capitalised(each.text)))
        sought = {word for text in texts for word in name_words(text)}
        found = await self._store.find_name_words(sorted(sought), limit=20) if sought else ()
        await self._add([each.entity_id for each in found], reader)
        said = {word for text in ends for word in name_parts(text)}
        of_facts = {memory.id for memory in memories}
        for id_, name in list(self._entities.items()):
            if id_ in self._read or said.isdisjoint(name_parts(name.name)):
                continue
            self._read.add(id_)
            relations = await self._store.list_relations(entity_id=id_, limit=MOST_RELATIONS)
            shown = await reader.shown(
                [each for each in relations if not {*each.evidence} or not {*each.evidence} <= of_facts]
            )
            await self._add([end for each in shown for end in (each.source_id, each.target_id)], reader)
            for each in shown:
                self._hold(each)

    async def _add(self, ids: Iterable[UUID], reader: Reader) -> None:
        for entity in await reader.get_entities(sorted(set(ids) - self._entities.keys())):
            if entity.merged_into is None:
                type_ = "" if entity.type in UNKNOWN_TYPES else entity.type
                name = Name(entity.name, type_, guess_kind(entity.name), entity, forms={*map(folded, entity.aliases)})
                self._entities[entity.id] = name
                if entity.type != VALUE:
                    self._scope.know(name)

    def _hold(self, relation: Relation) -> None:
        """Let the scope hold a stored relation; it tells kinds of its ends."""
        source, target = self._entities.get(relation.source_id), self._entities.get(relation.target_id)
        if source is None or target is None or relation.type in CO_OCCURRENCE_TYPES:
            return
        end = target.name if target.type == VALUE else target
        held = Held(source, relation.type, end, relation.valid_from, relation.valid_to)
        known = (each for each in self._scope.about(source) if each.is_of(source, held.type, end))
        if not any(each.since == held.since for each in known):
            self._hold_fact(held)

    def _hold_fact(self, held: Held) -> None:
        self._scope.hold(held)
        source, target = _kinds().get(held.type, ("", ""))
        if source:
            held.source.votes[source] += 1
        elif held.type in MAKERS and len(held.source.name.split()) == 2:  # noqa: PLR2004
            held.source.hint = held.source.hint or PERSON
        if target not in ("", VALUE) and isinstance(held.target, Name):
            held.target.votes[target] += 1

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
        draft.reports = tuple(reports[at] for at in range(len(memory.facts)))
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
        outcome = _Outcome(fact, draft)
        try:
            if self._require_quotes and not fact.quote:
                outcome.refused.append("no quote")
            elif is_alias(fact):
                self._alias(outcome)
            else:
                self._state(outcome)
        except RefusalError as error:
            outcome.refused.append(str(error))
        return outcome.report()

    def _alias(self, outcome: _Outcome) -> None:
        """Let two names be one: the longer stays, and the other leads to it."""
        fact, draft = outcome.fact, outcome.draft
        ends = [find_ends(each, draft.memory, None, self._scope)[0][0] for each in (fact.subject, fact.object)]
        demand_names(ends)
        if any(each.is_value for each in ends):
            raise RefusalError("a value is no name")
        names = [self._scope.add(each) for each in ends]
        short, full = sorted(names, key=lambda each: (each.entity is not None, len(each.name.split()), len(each.name)))
        outcome.confirmed = short is full
        if short is not full and short.entity is not None:
            raise RefusalError("both are known as two: merge them")
        self._scope.join(short, full)
        self._scope.know(full, *(each.written for each in ends))
        draft.mentions = {
            (full if name is short else name, form): sure for (name, form), sure in draft.mentions.items()
        }
        for each in ends:
            draft.name(full, each.written)
        draft.same.append((short.name, full))
        outcome.held = (full.name, "same_as", short.name)

    def _state(self, outcome: _Outcome) -> None:
        """State what a fact says of all of its ends, unless the text says otherwise."""
        draft, own = outcome.draft, self._types.keys() - table().types
        outcome.reading = reading = read_fact(outcome.fact, draft.memory, self._scope, own, draft.last)
        phrase = reading.phrase
        outcome.why += reading.unread
        draft.last = reading.until or reading.since or draft.last
        for subject in reading.subjects:
            for object_ in reading.objects:
                self._relate(outcome, reading, *((object_, subject) if phrase.inverse else (subject, object_)))
            if not reading.objects and subject.name:  # "resigned", "stopped using it": all that stands ends
                for each in self._scope.standing(subject.name, phrase.type, self._time(draft)):
                    draft.name(subject.name, subject.written)
                    self._close(outcome, Held(each.source, each.type, each.target), reading.until or self._time(draft))
                    outcome.held = outcome.held or each.ends
        if not reading.objects and not outcome.held:
            outcome.refused.append("nothing is known that it ends")
        if reading.role and not (outcome.stopped or phrase.inverse or phrase.closes):
            source = self._scope.add(reading.subjects[0])
            self._claim(outcome, Held(source, "role", reading.role, reading.since, reading.until))

    def _relate(self, outcome: _Outcome, reading: Reading, first: End, second: End) -> None:
        """State that one end is related with another, or no longer."""
        phrase, draft, scope = reading.phrase, outcome.draft, self._scope
        if first.is_value:
            outcome.refused.append("its subject is a value")
            return
        source = scope.add(first)
        scope.recent.append(source)
        target = second.written if _is_value(second, phrase) else scope.add(second)
        if source is target:
            outcome.refused.append("both ends are one")
            return
        over = phrase.closes or "denied" in phrase.cues or reading.until is not None
        seen = self._seen.get(draft.memory.session_id, "")
        proof = prove(draft.memory, outcome.fact.quote, (source, target), phrase, scope, seen=seen, over=over)
        outcome.quoted = outcome.quoted or proof.quoted
        outcome.grounded = outcome.grounded and not proof.why
        outcome.against += proof.against
        outcome.why += proof.why
        if self._refuse_ungrounded and not outcome.grounded:
            outcome.refused.append("not grounded")
        if outcome.stopped:
            return
        draft.name(source, first.written)
        draft.name(target, second.written)
        held = Held(source, phrase.type or phrase.normal, target, reading.since, reading.until)
        if "denied" in phrase.cues or phrase.closes:
            self._end(outcome, held, denied="denied" in phrase.cues)
            return
        self._begin(outcome, held, reading)
        leader = phrase.type == "leads" and phrase.noun in words("heads")
        if leader and isinstance(target, Name) and target.kind.kind not in ("group", "thing", "place"):
            self._begin(outcome, attrs.evolve(held, type="works_at"), reading)

    def _end(self, outcome: _Outcome, held: Held, *, denied: bool) -> None:
        """State that a fact holds no longer, or that it does not."""
        at = self._time(outcome.draft)
        known = [each for each in self._scope.about(held.source) if each.is_of(held.source, held.type, held.target)]
        if denied and not known:
            outcome.refused.append("a denial is no fact")
            return
        outcome.held = outcome.held or held.ends
        stand = [str(each) for each in known if each.stands(at)]
        if known and not stand and held.until is None:  # what took its place has ended it
            outcome.confirmed = True
            return
        outcome.about += stand
        held.undated, held.until = held.until is None, held.until or at
        self._close(outcome, held, held.until)

    def _begin(self, outcome: _Outcome, held: Held, reading: Reading) -> None:
        """State that a fact holds."""
        start = held.since or self._time(outcome.draft)
        stand = self._scope.standing(held.source, held.type, start, held.target)
        if not stand and not reading.also:
            self._supersede(outcome, held, start, opens=held.since is not None or reading.phrase.opens)
        self._claim(outcome, held)
        outcome.held, outcome.confirmed = outcome.held or held.ends, outcome.confirmed or bool(stand)
        if held.until is not None:
            self._follow(outcome, held, held.until)

    def _time(self, draft: _Draft) -> datetime:
        return draft.memory.occurred_at or self._store.clock.now()

    def _supersede(self, outcome: _Outcome, held: Held, start: datetime, *, opens: bool) -> None:
        """End what a fact takes the place of: another target where there is one at a time, the holder before."""
        functional = held.type in self._types and self._types[held.type].functional
        for each in self._scope.about(held.source, held.target):
            begins_later = each.since is not None and each.since >= start
            here = each.memory_id == outcome.draft.memory.id
            if each.type != held.type or here or begins_later or not each.stands(start):
                continue
            of_source = each.source is held.source and each.target != held.target
            led = held.type == "leads" and each.target is held.target and each.source is not held.source and opens
            if of_source and functional:  # the fold ends it
                outcome.about.append(str(each))
                each.over = start
            elif led or (of_source and held.type in SINGLE):
                self._close(outcome, Held(each.source, each.type, each.target), start)

    def _close(self, outcome: _Outcome, held: Held, end: datetime) -> None:
        """Claim that a fact ended."""
        for each in self._scope.standing(held.source, held.type, end, held.target):
            outcome.about.append(str(each))
            each.over = end
        held.until = end
        self._claim(outcome, held)
        for end_ in (held.source, held.target):
            outcome.draft.name(end_, end_ if isinstance(end_, str) else end_.name)
        self._follow(outcome, held, end)

    def _follow(self, outcome: _Outcome, held: Held, end: datetime) -> None:
        """Who leaves an employer reports to nobody there."""
        for each in self._scope.standing(held.source, "reports_to", end) if held.type == "works_at" else ():
            if each.memory_id != outcome.draft.memory.id:
                self._close(outcome, Held(each.source, each.type, each.target), end)

    def _claim(self, outcome: _Outcome, held: Held) -> None:
        """Note a claim of the fact's memory, as sure as the fact is proven."""
        fact, draft, quoted, reading = outcome.fact, outcome.draft, outcome.quoted, outcome.reading
        unsure = UNMAPPED if reading and not reading.phrase.type else QUOTED if quoted else UNQUOTED
        held.confidence = unsure if fact.confidence is None else fact.confidence
        held.ceiling = 1.0 if outcome.grounded else UNGROUNDED
        quote = draft.memory.text[quoted.start : quoted.end].split() if quoted else []
        words_ = quote if len(quote) > SHORTEST_QUOTE else f"{fact.subject} {fact.relation} {fact.object}".split()
        held.text, held.span, held.memory_id = " ".join(words_), quoted, draft.memory.id
        held.also = reading is not None and reading.also
        draft.claims.append(held)
        self._hold_fact(held)


# -- what is written ---------------------------------------------------------------------------------------------------


def _stated(draft: _Draft) -> Stated:
    memory = draft.memory
    for ended in draft.claims:
        if ended.undated:  # an ending without a date takes that of what begins in its place
            begun = (each.since for each in draft.claims if each.since and _takes_place(each, ended))
            ended.until = next(begun, ended.until)
    surfaces = {each: _extracted(*each, confidence, memory) for each, confidence in draft.mentions.items()}
    of_name = {name: surface for (name, _), surface in reversed(surfaces.items())}
    statements = []
    for each in draft.claims:
        source, target = (
            (not isinstance(end, str) and of_name.get(end)) or _extracted(end, str(end), each.confidence, memory)
            for end in (each.source, each.target)
        )
        if source.name == target.name and source.type == target.type:
            continue
        statements.append(
            Statement(
                source=source,
                type=each.type,
                target=target,
                confidence=each.confidence,
                kind=EdgeKind.SEMANTIC,
                valid_from=None if each.until and each.since and each.since >= each.until else each.since,
                valid_to=each.until,
                fact=each.text,
                span=each.span or Span(start=0, end=len(memory.text)),
                pattern=each.type,
                extractor=BESIDE if each.also else STATED,
                ceiling=each.ceiling,
            )
        )
    same = tuple((short, str(full)) for short, full in draft.same if short != str(full))
    extracted = ExtractedMemory(
        memory_id=memory.id, surfaces=tuple(surfaces.values()), statements=tuple(statements), same=same
    )
    descriptions = {str(name): name.description for name, _ in draft.mentions if name.description}
    return Stated(extracted, draft.reports, descriptions)


def _takes_place(new: Held, old: Held) -> bool:
    """Whether a fact takes the place of another: another target of its source, or another source of its target."""
    return new.type == old.type and (new.source is old.source) != (new.target is old.target)


def _is_value(end: End, phrase: Phrase) -> bool:
    """Whether an end is a value: in lower case, where no type takes it for a name, or too long for one."""
    if end.name is not None or end.kind.kind != COMMON:
        return end.is_value
    ends = phrase.frame.source + phrase.frame.target
    return "*" in phrase.frame.target or {*"pogt"}.isdisjoint(ends) or len(end.written.split()) > LONGEST_PHRASE


@cache
def _kinds() -> Mapping[str, tuple[str, str]]:
    """The kinds that types tell of their ends; "" for those that they do not."""
    letters: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for frame in table().frames:
        for found, end in zip(letters[frame.type], (frame.source, frame.target), strict=True):
            found |= {*end.partition("(")[0].strip()}
    sure = {type_: [KINDS.get("".join(some), "") for some in ends] for type_, ends in letters.items()}
    return {type_: (source, target) for type_, (source, target) in sure.items()}


def _extracted(end: Name | str, written: str, confidence: float, memory: Memory) -> ExtractedName:
    text, lower = memory.text, memory.text.casefold()
    at = lower.find(written.casefold()) if len(lower) == len(text) else text.find(written)
    type_ = VALUE if isinstance(end, str) else end.type
    if not type_ and isinstance(end, Name) and end.kind.proven:  # a group is an organisation
        type_ = {"group": ORGANISATION, "thing": ""}.get(end.kind.kind, end.kind.kind)
    return ExtractedName(
        name=str(end),
        type=type_,
        span=None if at < 0 else Span(start=at, end=at + len(written)),
        confidence=confidence,
        pattern=STATED,
        written=written,
    )
