"""Commands for operators that curate a graph: merge-entities, find-duplicates, detect-communities, graph-health etc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.arguments import Budgeted, Entity, Limit, identifier
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.output import as_json, in_words, pairs, table
from graphsearch.curation import Curator, Duplicate, JudgeReport, SummariesReport
from graphsearch.curation.summarising import MIN_SIZE
from graphsearch.health.duplicates import ALIKE
from graphsearch.model import Community
from graphsearch.model import validation as check
from graphsearch.model.identity import id_or_name
from graphsearch.text.rendering import entity_name, safe_text

Threshold = Annotated[float, typer.Option(min=0.6, max=1.0, help="The minimum similarity of names.")]
Seed = Annotated[int, typer.Option(help="The seed of the order in which entities are visited.")]


async def merge_entities(
    place: Place,
    source: Annotated[str, typer.Argument(help="The entity to merge: its id, name or alias.")],
    target: Annotated[str, typer.Argument(help="The entity to merge it into.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would move.")] = False,
    retype: Annotated[bool, typer.Option("--retype", help="Also if they have two types: the second's counts.")] = False,
) -> Answer:
    """Merge one entity into another; undo-merge reverts it."""
    async with open_engine(place) as engine:
        curator = Curator(engine)
        done = await curator.merge_entities(id_or_name(source), id_or_name(target), dry_run=dry_run, retype=retype)
    moved = f"{done.mentions} mentions, {done.claims} claims and {done.relations} relations"
    shown = f"would move {moved}" if dry_run else f"moved {moved}; to take it back: undo-merge {done.id}"
    return Answer({**as_json(done), "dry_run": dry_run}, (shown,))


async def undo_merge(
    place: Place, merge: Annotated[UUID, typer.Argument(parser=identifier, help="The id that merge-entities printed.")]
) -> Answer:
    """Undo a merge: separate the two entities again."""
    async with open_engine(place) as engine:
        report = await Curator(engine).undo_merge(merge)
    return Answer(as_json(report), (pairs(as_json(report).items()),))


async def merges(
    place: Place, entity: Annotated[str | None, typer.Option(help="Only the merges of this entity.")] = None
) -> Answer:
    """List the merges, including undone ones, in the order in which they were made."""
    async with open_engine(place) as engine:
        found = await Curator(engine).merges(id_or_name(entity) if entity else None)
    rows = [(each.created_at, each.source_id, each.target_id, each.id, each.undone_at) for each in found]
    return Answer({"merges": as_json(found)}, (table("when", "source", "target", "merge", "undone", rows=rows),))


async def update_entity(
    place: Place,
    entity: Entity,
    name: Annotated[str | None, typer.Option(help="The new name; the old one becomes an alias.")] = None,
    type: Annotated[str | None, typer.Option(help="The new type.")] = None,
    description: Annotated[str | None, typer.Option(help="The new description.")] = None,
    alias: Annotated[list[str] | None, typer.Option(help="All of its aliases; repeated.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="All of its labels; repeated.")] = None,
    attributes: Annotated[str | None, typer.Option(help="All of its attributes, as a JSON object.")] = None,
    importance: Annotated[float | None, typer.Option(help="How much it matters, in [0, 1].")] = None,
) -> Answer:
    """Correct an entity: what is not given stays as it is."""
    corrections: dict[str, Any] = {
        "name": name,
        "type": type,
        "description": description,
        "aliases": alias,
        "labels": label,
        "attributes": None if attributes is None else _json_object(attributes),
        "importance_weight": importance,
    }
    if all(value is None for value in corrections.values()):
        raise typer.BadParameter("give at least one correction")
    async with open_engine(place, embed=True) as engine:
        now = as_json(await Curator(engine).update_entity(id_or_name(entity), **corrections))
    return Answer(now, (pairs(in_words(now)),))


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = check.parse_json(text)
    except ValueError as error:
        raise typer.BadParameter(f"--attributes must be a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise typer.BadParameter("--attributes must be a JSON object")
    return value


async def link_memories(
    place: Place,
    from_id: Annotated[str, typer.Argument(help="The id of a memory.")],
    to_id: Annotated[str, typer.Argument(help="The id of the memory that it is linked to.")],
    type: Annotated[str, typer.Option(help="The type of the link, such as follows.")] = "relates_to",
) -> Answer:
    """Link a memory to another; backlinks of the second then lists the first."""
    async with open_engine(place) as engine:
        new = await Curator(engine).link_memories(from_id, to_id, type=type)
    return Answer({"new": new}, ("linked" if new else "linked before",))


async def find_duplicates(place: Place, limit: Limit = 20, threshold: Threshold = ALIKE) -> Answer:
    """List pairs of entities that may be duplicates, the most similar first."""
    async with open_engine(place) as engine:
        found = await Curator(engine).find_duplicates(limit=limit, threshold=threshold)
    rows = [
        (each.similarity, each.likeness.value, each.verdict.value, *_names(each), each.one.id, each.other.id)
        for each in found
    ]
    shown = table("similarity", "likeness", "verdict", "one", "other", "id", "id", rows=rows)
    return Answer({"duplicates": as_json(found)}, (shown,))


async def find_ambiguous(place: Place, limit: Limit = 20) -> Answer:
    """List first names and surnames that several people have, with these people: whom they mean is open."""
    async with open_engine(place) as engine:
        found = await Curator(engine).find_ambiguous(limit=limit)
    rows = [
        (entity_name(each.entity), ", ".join(entity_name(one) for one in each.candidates), each.entity.id)
        for each in found
    ]
    return Answer({"ambiguous": as_json(found)}, (table("name", "candidates", "id", rows=rows),))


async def judge_duplicates(
    place: Place,
    limit: Limit = 20,
    threshold: Threshold = ALIKE,
    *,
    asked: Budgeted,
) -> Answer:
    """Have the language model judge possible duplicates: merge the same, mark the distinct."""
    model = asked.model("judge-duplicates needs")
    async with open_engine(place) as engine:
        curator = Curator(engine, gate=ALLOW_ALL)  # an operator sees everything, and so may the operator's model
        report = await curator.judge_duplicates(model, limit=limit, threshold=threshold)
    return _judged(report)


async def mark_distinct(
    place: Place,
    one: Entity,
    other: Entity,
    distinct: Annotated[bool, typer.Option(help="Mark as distinct; --no-distinct removes the mark.")] = True,
) -> Answer:
    """Record that two entities are distinct, so that find-duplicates leaves them out."""
    async with open_engine(place) as engine:
        changed = await Curator(engine).mark_distinct(id_or_name(one), id_or_name(other), distinct=distinct)
    return Answer({"changed": changed}, ("recorded" if changed else "recorded before",))


def _judged(report: JudgeReport) -> Answer:
    counts = {
        "judged": report.judged,
        "merged": report.merged,
        "distinct": report.distinct,
        "unsure": len(report.unsure),
        "left": report.left,
    }
    data = [
        {**as_json(each.pair), "finding": each.finding.value, "merge": as_json(each.merge), "why": each.why}
        for each in report.pairs
    ]
    rows = [
        (each.pair.similarity, each.finding.value, *_names(each.pair), each.merge or each.why) for each in report.pairs
    ]
    shown = table("similarity", "finding", "one", "other", "merge, or why not", rows=rows)
    return Answer({**counts, "why": list(report.why), "pairs": data}, (shown, pairs(counts.items())))


def _names(pair: Duplicate) -> tuple[str, str]:
    return entity_name(pair.one), entity_name(pair.other)


async def contradictions(place: Place, limit: Limit = 20) -> Answer:
    """List pairs of relations that contradict each other, for a person to decide between them."""
    async with open_engine(place) as engine:
        found = await Curator(engine).contradictions(limit=limit)
        ids = {each_id for each in found for each_id in (each.source_id, each.one.target_id, each.other.target_id)}
        named = {entity.id: entity_name(entity) for entity in await engine.store.get_entities(sorted(ids))}
    rows = [
        (each.valid_from, named[each.source_id], each.type, named[each.one.target_id], named[each.other.target_id])
        for each in found
    ]
    return Answer({"contradictions": as_json(found)}, (table("since", "who", "", "one", "other", rows=rows),))


async def communities(
    place: Place,
    entity: Annotated[str | None, typer.Option(help="Only the community of this entity.")] = None,
    limit: Limit = 20,
) -> Answer:
    """List the stored communities (groups of related entities), the largest first."""
    async with open_engine(place) as engine:
        return _communities(await Curator(engine).communities(id_or_name(entity) if entity else None, limit=limit))


async def detect_communities(place: Place, limit: Limit = 20, seed: Seed = 0) -> Answer:
    """Detect and store all communities again; list them, the largest first."""
    async with open_engine(place) as engine:
        return _communities((await Curator(engine).detect_communities(seed=seed))[:limit])


async def refresh_communities(place: Place, limit: Limit = 20, seed: Seed = 0) -> Answer:
    """Update the communities whose relations changed; list those that changed, the largest first."""
    async with open_engine(place) as engine:
        return _communities((await Curator(engine).refresh_communities(seed=seed))[:limit])


async def summarise_communities(
    place: Place,
    limit: Annotated[int | None, typer.Option(min=1, help="The most communities to ask for; default: all.")] = None,
    min_size: Annotated[int, typer.Option(min=2, help="The fewest members of a community to summarise.")] = MIN_SIZE,
    *,
    asked: Budgeted,
) -> Answer:
    """Have the language model summarise the communities that are new or have changed; run it again to go on."""
    model = asked.model("summarise-communities needs")
    async with open_engine(place) as engine:
        curator = Curator(engine, gate=ALLOW_ALL)  # an operator sees everything, and so may the operator's model
        return _summarised(await curator.summarise_communities(model, limit=limit, min_size=min_size))


def _summarised(report: SummariesReport) -> Answer:
    usage = report.usage
    counts = {
        "written": len(report.written),
        "unchanged": report.unchanged,
        "failed": len(report.failed),
        "left": report.left,
        "why": report.why,
        "calls": report.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
    failures = [(safe_text(each.label), each.why) for each in report.failed]
    shown = [*_summaries(report.written), *([table("failed", "why", rows=failures)] if failures else ())]
    return Answer(as_json(report), (*shown, pairs((name, value) for name, value in counts.items() if value != "")))


def _communities(found: Sequence[Community]) -> Answer:
    rows = [(each.size, each.density, each.label, each.id) for each in found]
    shown = table("members", "density", "label", "id", rows=rows)
    return Answer({"communities": as_json(found)}, (shown, *_summaries(found)))


def _summaries(found: Sequence[Community]) -> list[str]:
    """A line for each community that has a summary."""
    return [f"{safe_text(each.label)}: {safe_text(each.summary.text)}" for each in found if each.summary]


async def graph_health(place: Place) -> Answer:
    """Report the health of the graph and its problems."""
    async with open_engine(place) as engine:
        found = as_json(await Curator(engine).graph_health())
    shown = {name: value for name, value in found.items() if name != "warnings"}
    return Answer(found, (pairs(in_words(shown)), *found["warnings"]))
