"""Tools that change the graph: remember, report outcomes, correct, merge, link, forget."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import attrs
from pydantic import Field

from graphsearch.errors import AccessDeniedError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.ingest.sources.memory_files import transcript_memories
from graphsearch.ingest.sources.stated import note_id, outcome_lines, state, text_of
from graphsearch.ingest.write.intake import Intake
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.integrations.arguments import Arguments, Entities, Facts, stated_of
from graphsearch.integrations.mcp.answers import community_json, counts_json, entity_json, shown_id
from graphsearch.integrations.mcp.service import Caller
from graphsearch.integrations.mcp.tool import (
    Entity,
    EntityType,
    Labels,
    Limit,
    MemoryId,
    Moment,
    Name,
    Session,
    writes,
)
from graphsearch.model import Action, FeedbackReport, Memory, Outcome
from graphsearch.model import validation as check
from graphsearch.model.identity import id_or_name


class Turn(Arguments):
    """One turn of a conversation."""

    content: str = Field(min_length=1, max_length=50_000, description="The text of the turn.")
    speaker: str | None = Field(default=None, max_length=200, description="The speaker's name, if known.")
    role: str | None = Field(
        default=None, max_length=50, description="Or the speaker's role, such as user or assistant."
    )
    time: Moment | None = Field(default=None, description="The time of the turn.")
    id: str | None = Field(default=None, max_length=200, description="What to call it, if not by its position.")


Turns = Annotated[list[Turn] | None, Field(max_length=500, description="The turns of a conversation, in order.")]


@writes()
async def remember(
    caller: Caller,
    turns: Turns = None,
    session_id: Annotated[Session | None, Field(description="The conversation that the turns belong to.")] = None,
    text: Annotated[
        str | None, Field(min_length=1, max_length=200_000, description="Or a note or document, as Markdown.")
    ] = None,
    occurred_at: Annotated[Moment | None, Field(description="When the note was written.")] = None,
    source: Annotated[str, Field(max_length=200, description="Where it comes from, such as a file's name.")] = "",
    facts: Facts = None,
    entities: Entities = None,
    labels: Labels | None = None,
    context_session: Annotated[
        Session | None,
        Field(
            description="The session of graph_query, if it was asked in this conversation: what it showed is no news,"
            " and `echoes` lists what repeats it."
        ),
    ] = None,
) -> dict[str, Any]:
    """Remember a conversation (`turns`, `session_id`) or a note (`text`), with the `facts` that you understood from it.

    {good_facts}
    Relations used here: {types}. Others stay in your words.

    `facts` of the answer says by number what became of each. What is known stays: to correct what was refused or
    misunderstood, call again with the same text and all of its facts. A known turn with another text is refused.
    """
    service, may_write = caller.service, caller.gate.bind(caller.engine.store.scope, Action.WRITE)
    options, writer = service.ingest, caller.gate.principal.qualified_id
    if text is not None:  # before a long text is split
        await may_write.demand([_written_by(caller, Memory(id="note", source=source), labels, None)])
    stated = stated_of(facts, entities)
    only_stated = text is None and not turns and any(stated.values())
    if only_stated:
        proven = options.require_quotes or options.refuse_ungrounded
        check.refuse("remember", "give the turns or the text that prove the facts" if proven else None)
        text = text_of(**stated)
    given = _memories(turns or None, session_id, text, occurred_at, source, writer)
    found = await or_nothing(caller.engine.store.get_memories([memory.id for memory in given]))  # hidden or not
    stored = {memory.id: memory for memory in found}
    given = state(given, **stated, known=stored.keys())
    written = [_written_by(caller, memory, labels, stored.get(memory.id)) for memory in given]
    # all at once: a caller without write permission does not learn which of them are stored
    await may_write.demand([*written, *stored.values()])
    known = await Intake(options).memories(memory for memory in written if memory.id in stored)
    check.refuse("remember", *(_rewritten(memory, stored[memory.id]) for memory in known))
    replaced = {each.id for each in known if _described(each) != _described(stored[each.id])}
    new = [each for each in written if each.facts or each.entities or each.id not in stored or each.id in replaced]
    extractor = None if only_stated else service.extractor
    ingestor = Ingestor(caller.engine, gate=caller.gate, extractor=extractor, limits=service.limits, options=options)
    report = await ingestor.remember(new, session_id=context_session or "")
    left = {each.memory_id for each in report.echoes if not each.stored}
    told = {"echoes": {each.memory_id for each in report.echoes}, "replaced": replaced}
    lists = {"memory_ids": [shown_id(memory.id) for memory in given if memory.id not in left]}
    lists |= {name: [shown_id(memory.id) for memory in given if memory.id in ids] for name, ids in told.items() if ids}
    if stated["facts"]:
        unwritten = {*left, *(each.memory_id for each in report.unread)}
        lists["facts"] = outcome_lines(stated["facts"], report.stated, [each for each in new if each.id in unwritten])
    return caller.fitted({"changed": report.changed}, **lists)


@writes()
async def feedback(
    caller: Caller,
    session_id: Annotated[Session, Field(description="As graph_query gave it.")],
    outcome: Annotated[
        Literal["accepted", "rework", "rejected"],
        Field(description="accepted: the work was right. rework: it had to be changed. rejected: it was wrong."),
    ],
) -> dict[str, Any]:
    """Report the outcome of the task that graph_query was called for, so that helpful results rank higher.

    A session counts once: the same outcome again changes nothing, another outcome replaces it.
    """
    report = await caller.builder.feedback(session_id, Outcome[outcome.upper()], gate=caller.gate)
    moved = [*report.applied, *report.replaced]
    touched = len(moved) + len(report.repeated)
    if report.denied and not touched:
        raise AccessDeniedError(Action.FEEDBACK.value)
    unknown = {"reason": f"nothing was shown to a session {shown_id(session_id)!r}"}
    counts = {"moved": len(moved), "repeated": len(report.repeated), "missing": len(report.missing)}
    return counts | (unknown if report == FeedbackReport() else {})


@writes(destructive=True)
async def update_entity(
    caller: Caller,
    entity: Entity,
    name: Name | None = None,
    type: EntityType | None = None,
    description: Annotated[str | None, Field(max_length=4_000)] = None,
    aliases: Annotated[list[Name] | None, Field(max_length=50, description="All of its aliases.")] = None,
    labels: Labels | None = None,
    importance_weight: Annotated[
        float | None, Field(ge=0, le=1, description="Its importance; 0.5 is the default.")
    ] = None,
) -> dict[str, Any]:
    """Correct an entity. Give only the fields to change; lists are replaced whole. A former name becomes an alias.

    If two entities turn out to be one, use merge_entities.
    """
    corrections: dict[str, Any] = {
        "name": name,
        "type": type,
        "description": description,
        "aliases": aliases,
        "labels": labels,
        "importance_weight": importance_weight,
    }
    empty = all(value is None for value in corrections.values())
    check.refuse("update_entity", "give at least one correction" if empty else None)
    now = await caller.curator.update_entity(id_or_name(entity), **corrections)
    return caller.fitted({"entity": entity_json(now)})


@writes(destructive=True, idempotent=False)
async def merge_entities(
    caller: Caller,
    source: Entity,
    target: Entity,
    dry_run: Annotated[bool, Field(description="Only report what would move.")] = False,
    retype: Annotated[bool, Field(description="Also if they have two types: that of the target counts.")] = False,
) -> dict[str, Any]:
    """Merge two entities that are the same: everything known of `source` becomes known of `target`.

    Both must have the same type, unless `retype` is true. Try it with `dry_run` first.
    """
    ends = id_or_name(source), id_or_name(target)
    merge = await caller.curator.merge_entities(*ends, dry_run=dry_run, retype=retype)
    ids = {"merge_id": str(merge.id), "source_id": str(merge.source_id), "target_id": str(merge.target_id)}
    return {**ids, **counts_json(merge), "dry_run": dry_run}


@writes()
async def link_memories(
    caller: Caller,
    from_id: MemoryId,
    to_id: MemoryId,
    type: Annotated[
        str, Field(min_length=1, max_length=100, description="Such as relates_to or follows.")
    ] = "relates_to",
) -> dict[str, Any]:
    """Link a memory to a related one; backlinks of the second then lists the first."""
    return {"new": await caller.curator.link_memories(from_id, to_id, type=type)}


@writes()
async def detect_communities(caller: Caller, limit: Limit = 20) -> dict[str, Any]:
    """Detect groups of closely related entities, the largest first.

    Processes the whole graph and stores the result: once a day is enough.
    """
    found = await caller.curator.detect_communities()
    communities = [community_json(community) for community in found[:limit]]
    return caller.fitted({"found": len(found)}, communities=communities)


@writes(destructive=True)
async def forget(
    caller: Caller,
    memory: MemoryId | None = None,
    session_id: Annotated[Session | None, Field(description="Or a session: all of its memories.")] = None,
    source: Annotated[Name | None, Field(description="Or a source: all memories from it.")] = None,
    subject: Annotated[Name | None, Field(description="Or a subject: all memories about it, as they state it.")] = None,
    owner: Annotated[Name | None, Field(description="Or an owner: all of their memories.")] = None,
    label: Annotated[Name | None, Field(description="Or a label: all memories that have it.")] = None,
) -> dict[str, Any]:
    """Forget a memory, or all of a session, source, subject, owner or label, with everything that rests on it alone.

    Irreversible. Give one.
    """
    report = await caller.curator.forget(
        memory, session_id=session_id, source=source, subject=subject, owner=owner, label=label
    )
    return {"memories": 0, **counts_json(report), **({} if report.memories else {"reason": "there is no such memory"})}


def _memories(
    turns: Sequence[Turn] | None, session_id: str | None, text: str | None, occurred_at: Any, source: str, writer: str
) -> Sequence[Memory]:
    """The memories of turns or of a note. Their ids are made of who writes them: nobody else writes, or meets, them."""
    check.refuse(
        "remember",
        "give either turns or text" if (turns is None) is (text is None) else None,
        "session_id comes with turns" if (turns is None) is not (session_id is None) else None,
        "occurred_at comes with text; a turn has its own time" if turns is not None and occurred_at else None,
    )
    if turns is not None:
        dumped = [turn.model_dump(exclude_none=True) for turn in turns]
        memories = transcript_memories(dumped, session_id=session_id or "", source=source)
        mark = f"#{hashlib.sha256(writer.encode()).hexdigest()[:16]}"
        return [attrs.evolve(memory, id=memory.id.removesuffix(mark) + mark) for memory in memories]
    note = text or ""
    id_ = note_id(writer, occurred_at or "", note)
    return document_memories(note, document_id=id_, source=source, occurred_at=occurred_at)


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


def _rewritten(memory: Memory, stored: Memory) -> str | None:
    if stored.text == memory.text:
        return None
    return f"the memory {shown_id(memory.id)!r} is known with another text: forget it first"
