"""Versions of a scope in memory: what a reader holds stays as it was, whatever is written since, in any thread."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphsearch.model import Entity, Mention
from graphsearch.protocols.rows import KINDS, EntityRow, Form, MentionRow, ScopeRow
from graphsearch.stores.in_memory.columns import column, listing
from graphsearch.stores.in_memory.port import MemoryPort, Reads
from graphsearch.stores.in_memory.rows import Table
from graphsearch.stores.in_memory.versions import Cell, Version
from graphsearch.text.analyser import ENGLISH

IDS = [UUID(int=number) for number in range(1, 9)]
NAMES = ["Ada", "Bob", "Eve Adams", "Ada Lovelace"]

entities = st.builds(
    lambda key, name, importance: EntityRow(
        Entity(type="person", name=name, id=key, importance_weight=importance), "person"
    ),
    st.sampled_from(IDS),
    st.sampled_from(NAMES),
    st.sampled_from([0.25, 0.5]),
)
mentions = st.builds(
    lambda memory, ordinal, entity, surface: MentionRow(
        Mention(memory_id=memory, entity_id=entity, surface=surface, type="person"), entity, ordinal, None, None, 1
    ),
    st.sampled_from(["m", "n", "o"]),
    st.integers(0, 2),
    st.sampled_from(IDS),
    st.sampled_from(NAMES),
)
changes = st.fixed_dictionaries(
    {
        "entity": st.dictionaries(st.sampled_from(IDS), st.booleans(), max_size=3),
        "put": st.lists(st.one_of(entities, mentions), max_size=4),
    }
)


class Held(Reads):
    """Reads one version."""

    def __init__(self, cell: Cell, version: Version) -> None:
        self._cell, self._held = cell, version

    @property
    def _version(self) -> Version:
        return self._held


def a_cell() -> Cell:
    cell = Cell(ENGLISH, uuid4())
    cell.version = Version.of_nothing(ScopeRow(cell.id_key), ENGLISH)
    return cell


async def write(cell: Cell, change: Any) -> None:
    assert cell.version is not None
    port = MemoryPort(cell, cell.version)
    for row in change["put"]:
        await port.put("entity" if isinstance(row, EntityRow) else "mention", [row], {})
    await port.drop("entity", [key for key, dropped in change["entity"].items() if dropped], {})
    await port.commit()


async def everything(cell: Cell, version: Version) -> Any:
    """All that can be read of a version, in every way."""
    reads = Held(cell, version)
    found: list[Any] = [version.size("entity"), version.made(listing, "entity").ids]
    found.append(version.made(column, "entity", "importance_weight", 0.0).values.tolist())
    for kind, columns in (("entity", {}), ("mention", KINDS["mention"])):
        rows = version.all(kind)
        found.append(rows)
        assert {row.key: row for row in await reads.rows(kind, list(rows))} == rows
        for name, of in columns.items():
            for value in {value for row in rows.values() for value in of(row)} | {"m", IDS[0]}:
                having = {key: row for key, row in rows.items() if value in of(row)}
                assert {row.key: row for row in await reads.rows_by(kind, name, [value])} == having
    names = await reads.keys_of(version, "entity", "word", ["ada", "bob"])
    found.append({word: set(keys) for word, keys in names.items()})
    found.append(set(await reads.forms(IDS, ["n"])))
    return found


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.lists(changes, max_size=8), st.sets(st.integers(0, 8)))
async def test_a_version_stays_as_it_was(written: list[Any], held: set[int]) -> None:
    cell = a_cell()
    versions: list[tuple[Version, Any]] = []
    for number, change in enumerate(written):
        if number in held and cell.version is not None:
            versions.append((cell.version, await everything(cell, cell.version)))
        await write(cell, change)
        for version, as_it_was in versions:
            assert await everything(cell, version) == as_it_was


@settings(deadline=None, max_examples=60)
@given(st.lists(changes, max_size=8))
async def test_what_is_brought_up_to_date_is_as_if_made_anew(written: list[Any]) -> None:
    cell = a_cell()
    for change in written:
        await write(cell, change)
        assert cell.version is not None
        anew = a_cell()
        rows = [*cell.version.all("entity").values(), *cell.version.all("mention").values()]
        await write(anew, {"put": rows, "entity": {}})
        assert anew.version is not None
        mine, theirs = await everything(cell, cell.version), await everything(anew, anew.version)
        assert mine == theirs


async def test_forms_are_of_what_was_written_in_other_memories() -> None:
    cell, row = a_cell(), MentionRow(Mention(memory_id="m", entity_id=IDS[0], surface="Ada"), IDS[1], 0, None, None, 7)
    await write(cell, {"put": [row], "entity": {}})
    assert cell.version is not None
    reads = Held(cell, cell.version)
    assert await reads.forms(IDS[:2], []) == [Form(IDS[0], "Ada", "", 7, 1)]
    assert await reads.forms(IDS[:2], ["m"]) == []


async def test_readers_wait_for_no_writer_and_make_no_index_meanwhile() -> None:
    cell = a_cell()
    row = EntityRow(Entity(type="person", name="Ada", id=IDS[0]), "person")
    await write(cell, {"put": [row], "entity": {}})
    assert cell.version is not None
    with cell.lock:
        found = await Held(cell, cell.version).keys_of(cell.version, "entity", "word", ["ada", "bob"])
        assert found == {"ada": [IDS[0]], "bob": []}
        assert not cell.version.tables["entity"].indexes
    await Held(cell, cell.version).keys_of(cell.version, "entity", "word", ["ada"])
    assert list(cell.version.tables["entity"].indexes) == ["word"]


async def test_a_write_that_fails_half_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = a_cell()
    rows = [EntityRow(Entity(type="person", name=f"Person {key}", id=key), "person") for key in IDS]
    await write(cell, {"put": rows, "entity": {}})
    assert cell.version is not None
    before, change = await everything(cell, cell.version), Table.change

    def failing(self: Table, changed: Any) -> None:
        change(self, dict(list(changed.items())[:1]))
        raise MemoryError

    monkeypatch.setattr(Table, "change", failing)
    with pytest.raises(MemoryError):
        await write(cell, {"put": [EntityRow(Entity(type="person", name="X", id=IDS[0]), "person")], "entity": {}})
    monkeypatch.undo()
    assert await everything(cell, cell.version) == before
    await write(cell, {"put": [EntityRow(Entity(type="person", name="X", id=IDS[0]), "person")], "entity": {}})
    assert cell.version.get("entity", IDS[0]).entity.name == "X"


async def test_readers_in_threads_see_one_state() -> None:
    """Each write gives all entities the same importance: whoever reads a version sees one."""
    cell = a_cell()

    def rows(importance: float) -> list[Any]:
        return [
            EntityRow(Entity(type="person", name="Ada", id=key, importance_weight=importance), "person")
            for key in IDS[:3]
        ]

    others = [EntityRow(Entity(type="person", name="Bob", id=uuid4()), "person") for _ in range(20)]
    await write(cell, {"put": [*others, *rows(0.0)], "entity": {}})
    done = False

    def read() -> int:
        number = 0
        while not done or number < 100:
            version = cell.version
            assert version is not None
            weights = {version.get("entity", key).entity.importance_weight for key in IDS[:3]}
            found = asyncio.run(Held(cell, version).keys_of(version, "entity", "word", ["ada"]))
            assert len(weights) == 1
            assert sorted(found["ada"]) == IDS[:3]
            number += 1
        return number

    reading = [asyncio.create_task(asyncio.to_thread(read)) for _ in range(3)]
    for number in range(300):
        await write(cell, {"put": rows(number % 100 / 100), "entity": {}})
        await asyncio.sleep(0)
    done = True
    assert all(number >= 100 for number in await asyncio.gather(*reading))
