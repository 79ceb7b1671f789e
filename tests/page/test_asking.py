"""The answer that a page shows: one block of what was found, what is not in it, and what held at other times."""

from __future__ import annotations

import asyncio
from contextvars import Context
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.context import ContextBuilder
from graphsearch.model import Batch, Memory
from graphsearch.model.codec import encode
from graphsearch.page.asking import ask
from graphsearch.testing.fakes import NOON
from tests.context.test_hidden_shapes_nothing import ADA, MODES, NAMES, SHIPPED, Graph, details, graphs
from tests.curation.team import ACME, GLOBEX, MEMORIES, engine_over
from tests.integrations.mcp.conftest import team_engine
from tests.properties import examples

QUESTION = "where does Ada Lovelace work?"


async def test_the_block_is_that_of_a_session_and_what_is_shown_is_what_it_was_made_of():
    builder = ContextBuilder(await team_engine())
    shown = await ask(builder, QUESTION, budget=120, gate=ALLOW_ALL)
    built = await builder.build(QUESTION, budget=120, gate=ALLOW_ALL, session_id="s")
    assert shown.block.text == built.text
    assert (shown.block.lines, shown.block.omitted) == (built.lines, built.omitted)
    assert {each.key for each in shown.block.lines} - {""} <= {each.key for each in (*shown.relations, *shown.memories)}
    found = await builder.engine.search(QUESTION, limit=25, gate=ALLOW_ALL)
    assert [each.key for each in shown.relations] == [f"relation:{each.relation.id}" for each in found.triplets]
    assert not await builder.engine.stores[0].injections("page")


async def test_the_parts_of_each_row_add_up_to_its_score():
    shown = await ask(ContextBuilder(await team_engine()), QUESTION, gate=ALLOW_ALL)
    assert shown.relations
    assert shown.memories
    assert shown.entities
    rows = [(each.score, each.parts) for each in (*shown.relations, *shown.memories, *shown.entities)]
    assert [sum(parts.values()) for _, parts in rows] == pytest.approx([score for score, _ in rows], abs=1e-4)


async def test_what_held_at_another_time_is_beside_the_answer():
    builder = ContextBuilder(await team_engine())
    now = await ask(builder, QUESTION, gate=ALLOW_ALL)
    over = {each.target.name for each in now.past}
    assert ACME.name in over
    assert GLOBEX.name not in over
    assert all(each.valid_to is not None and each.valid_to <= now.as_of for each in now.past)
    before = await ask(
        builder, QUESTION, as_of=min(each.valid_from for each in now.past if each.valid_from), gate=ALLOW_ALL
    )
    assert GLOBEX.name in {each.target.name for each in before.past}
    assert not {each.key for each in before.past} & {each.key for each in before.relations}


async def test_all_reads_see_one_state(scoped, monkeypatch):
    engine = await engine_over(scoped, embedded=True)
    builder, ranking = ContextBuilder(engine), engine.rank_entities
    as_it_was = await ask(builder, QUESTION, gate=ALLOW_ALL)

    async def while_all_is_forgotten(*args: Any, **options: Any) -> Any:
        await asyncio.create_task(scoped.forget([each.id for each in MEMORIES]), context=Context())
        return await ranking(*args, **options)

    monkeypatch.setattr(engine, "rank_entities", while_all_is_forgotten)
    meanwhile = await ask(builder, QUESTION, gate=ALLOW_ALL)
    assert (meanwhile.entities, meanwhile.past) == (as_it_was.entities, as_it_was.past)
    monkeypatch.undo()
    assert (await ask(builder, QUESTION, gate=ALLOW_ALL)).past == ()


async def test_a_long_text_is_cut():
    engine = await team_engine()
    await engine.store.write(Batch(memories=[Memory(id="long", text="Ada Lovelace works. " * 1_000)]))
    shown = await ask(ContextBuilder(engine), QUESTION, gate=ALLOW_ALL)
    [long] = (each for each in shown.memories if each.key == "memory:long")
    assert (len(long.text), long.cut) == (600, True)


@examples(25)
@given(
    graph=graphs(fields=details()), question=st.sampled_from(NAMES), mode=st.sampled_from(MODES), day=st.integers(-9, 1)
)
async def test_what_is_hidden_shapes_nothing_of_it(graph: Graph, question: str, mode: str, day: int) -> None:
    whole, visible = [
        await told(each, question, mode=mode, as_of=NOON + timedelta(days=day)) for each in (graph, graph.visible())
    ]
    assert whole == visible


async def told(graph: Graph, question: str, **options: Any) -> dict[str, Any]:
    """What Ada is told, without ids and the order of equal scores: a relation keeps the id under which it is stored."""
    gate = Gate(SHIPPED, ADA, statistics="visible")
    shown = encode(await ask(await graph.builder(), question, budget=60, gate=gate, **options))
    rows = ("relations", "memories", "entities", "past")
    unseen = ("denied", "denied_by", "left_out", "timings", "answers", "block", *rows)
    same = {name: each for name, each in shown.items() if name not in unseen}
    same |= {name: sorted(map(without_ids, shown[name]), key=repr) for name in rows}
    block = shown["block"]
    lines = [(each["text"], each["tokens"]) for each in block["lines"]]
    omitted = [(each["reason"], each["sentence"], each["key"].partition(":")[0]) for each in block["omitted"]]
    return {**same, "lines": sorted(lines), "omitted": sorted(omitted), "tokens": block["tokens"]}


def without_ids(row: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in row.items() if name not in ("key", "id") or row.get("text")}
