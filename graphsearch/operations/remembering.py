"""The operation that remembers: turns or a note, and the facts that an agent understood from them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import attrs

from graphsearch.ingest import Ingestor
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.ingest.sources.memory_files import transcript_memories
from graphsearch.ingest.sources.stated import note_id, of_now, outcome_lines, read_stated, state, text_of
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.ingest.write.options import Intake
from graphsearch.model import Action, Memory
from graphsearch.model import validation as check
from graphsearch.model.codec import Says, encode
from graphsearch.operations.service import Caller

GOOD_FACTS: Final = (
    "State what lasts and the text says: who works where, reports to whom, leads, uses, decided, prefers; status,"
    " deadline, budget; what is over, as `ended` or with `until`. One subject, one object, full names; dates as in the"
    " text. No wishes, guesses, small talk."
)
"""What makes a good fact, for the model that states it."""


@attrs.frozen(kw_only=True)
class Turn:
    """One turn of a conversation."""

    content: Annotated[str, Says("", 1, 50_000)]
    speaker: Annotated[str | None, Says("Who speaks, if known.", most=200)] = None
    role: Annotated[str | None, Says("Or a role, such as user.", most=50)] = None
    time: datetime | None = None
    id: Annotated[str | None, Says("Its own id.", most=200)] = None


@attrs.frozen(kw_only=True)
class StatedFact:
    """A fact that a text says."""

    subject: str
    relation: Annotated[str, Says("A verb or noun.")]
    object: Annotated[str, Says("A name or value.")] = ""
    since: str = ""
    until: str = ""
    ended: bool = False
    quote: Annotated[str, Says("The words that prove it.")] = ""
    subject_type: str = ""
    object_type: str = ""
    confidence: float | None = None


@attrs.frozen(kw_only=True)
class StatedEntity:
    """A name in a text."""

    name: str
    type: Annotated[str, Says("Such as person, tool.")]
    aliases: tuple[str, ...] = ()
    description: str = ""


@attrs.frozen(kw_only=True)
class Remembered:
    """What became of what was given: the ids of its memories, and a line for each fact.

    ``echoes`` repeat what the session was shown, and ``replaced`` were known with another speaker, source or labels.
    """

    changed: int
    memory_ids: tuple[str, ...]
    facts: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


async def remember(
    caller: Caller,
    *,
    text: str | None = None,
    turns: tuple[Turn, ...] | None = None,
    session_id: str | None = None,
    facts: tuple[StatedFact | str, ...] | None = None,
    entities: tuple[StatedEntity | str, ...] | None = None,
    occurred_at: datetime | None = None,
    source: str = "",
    labels: tuple[str, ...] | None = None,
    context_session: str = "",
) -> Remembered:
    """Remember a note, or the turns of a conversation, and the facts stated of it.

    What is new is written and read, and what is known stays. A new note is of now where no time is given. Raises
    `InvalidInputError` for a known turn or note with another text, and what `Ingestor.remember` raises.
    """
    service, may_write = caller.service, caller.gate.bind(caller.engine.store.scope, Action.WRITE)
    options = service.ingest
    if text is not None:  # before a long text is split
        await may_write.demand([_written_by(caller, Memory(id="note", source=source), labels, None)])
    stated = stated_of(facts, entities)
    only_stated = text is None and not turns and any(stated.values())
    if only_stated:
        proven = options.require_quotes or options.refuse_ungrounded
        check.refuse("remember", "give the turns or the text that prove the facts" if proven else None)
        text = text_of(**stated)
    given = _memories(turns or None, session_id, text, occurred_at, source, caller.gate.principal.qualified_id)
    found = await or_nothing(caller.engine.store.get_memories([memory.id for memory in given]))  # hidden or not
    stored = {memory.id: memory for memory in found}
    if text is not None and occurred_at is None:
        given = of_now(given, stored, caller.engine.store.clock.now())
    given = state(given, **stated, known=stored.keys())
    written = [_written_by(caller, memory, labels, stored.get(memory.id)) for memory in given]
    # all at once: a caller without write permission does not learn which of them are stored
    await may_write.demand([*written, *stored.values()])
    known = await Intake(options).memories(memory for memory in written if memory.id in stored)
    rewritten = [memory.id for memory in known if memory.text != stored[memory.id].text]
    check.refuse("remember", *(f"the memory {id_!r} is known with another text: forget it first" for id_ in rewritten))
    replaced = {each.id for each in known if _described(each) != _described(stored[each.id])}
    new = [each for each in written if each.facts or each.entities or each.id not in stored or each.id in replaced]
    extractor = None if only_stated else service.extractor
    ingestor = Ingestor(caller.engine, gate=caller.gate, extractor=extractor, limits=service.limits, options=options)
    report = await ingestor.remember(new, session_id=context_session)
    echoes = {each.memory_id for each in report.echoes}
    left = {each.memory_id for each in report.echoes if not each.stored}
    unwritten = {*left, *(each.memory_id for each in report.unread)}
    ids = [memory.id for memory in given]
    return Remembered(
        changed=report.changed,
        memory_ids=tuple(id_ for id_ in ids if id_ not in left),
        facts=tuple(outcome_lines(stated["facts"], report.stated, [each for each in new if each.id in unwritten])),
        echoes=tuple(id_ for id_ in ids if id_ in echoes),
        replaced=tuple(id_ for id_ in ids if id_ in replaced),
    )


def stated_of(
    facts: Sequence[StatedFact | str] | None, entities: Sequence[StatedEntity | str] | None
) -> dict[str, Any]:
    """What they state, as ``facts`` and ``entities``. Raises `InvalidInputError` with every fault and its place."""
    given = {"facts": facts, "entities": entities}
    return read_stated({name: [encode(each, sparse=True) for each in some or ()] for name, some in given.items()})


def _memories(
    turns: Sequence[Turn] | None,
    session_id: str | None,
    text: str | None,
    occurred_at: datetime | None,
    source: str,
    writer: str,
) -> Sequence[Memory]:
    """The memories of turns or of a note. Their ids are made of who writes them: nobody else writes, or meets, them."""
    check.refuse(
        "remember",
        "give either turns or text" if (turns is None) is (text is None) else None,
        "session_id is needed with turns" if turns is not None and session_id is None else None,
        "occurred_at comes with text; a turn has its own time" if turns is not None and occurred_at else None,
    )
    if turns is not None:
        dumped = [attrs.asdict(turn, filter=lambda _, value: value is not None) for turn in turns]
        memories = transcript_memories(dumped, session_id=session_id or "", source=source)
        mark = f"#{hashlib.sha256(writer.encode()).hexdigest()[:16]}"
        return [attrs.evolve(memory, id=memory.id.removesuffix(mark) + mark) for memory in memories]
    note = text or ""
    id_ = note_id(writer, occurred_at or "", note)
    memories = document_memories(note, document_id=id_, source=source, occurred_at=occurred_at)
    return [attrs.evolve(memory, session_id=session_id or memory.session_id) for memory in memories]


def _written_by(caller: Caller, memory: Memory, labels: Sequence[str] | None, stored: Memory | None) -> Memory:
    """A memory with its owner; its labels, source and time are those that are stored, where none are given."""
    known = stored or memory
    return attrs.evolve(
        memory,
        labels=known.labels if labels is None else labels,
        source=memory.source or known.source,
        occurred_at=memory.occurred_at or known.occurred_at,
        attributes={**memory.attributes, "owner": caller.gate.principal.id},
    )


def _described(memory: Memory) -> tuple[object, ...]:
    """What a caller says of a text."""
    return memory.labels, memory.source, memory.occurred_at, memory.speaker
