"""The rows of a store: read by key, by column and by page they are the same ones; put and dropped together or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs
import numpy as np
import pytest

from graphsearch.model import ElementKind
from graphsearch.protocols.rows import KINDS, Entry, Rows
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import ADA
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_moving import lived_in

_BY_OWNER: Final = {"mention": ("memory", "memory"), "claim": ("memory", "memory")}
"""Kinds that are never paged: the column that they are read by, and the kind that has its values."""


def plain(rows: Iterable[Any]) -> list[Any]:
    """Rows in order, as values that can be compared."""
    found = {row.key: row for row in rows}
    return [_comparable(found[key]) for key in sorted(found, key=repr)]


def _comparable(row: Any) -> Any:
    if isinstance(row, Entry) and isinstance(row.value, np.ndarray):
        return row.key, row.value.tolist()
    return row


async def every_row(rows: Rows, kind: str) -> Sequence[Any]:
    """All rows of a kind."""
    if kind not in _BY_OWNER:
        return await rows.page(kind)
    column, owner = _BY_OWNER[kind]
    return await rows.rows_by(kind, column, [row.key for row in await rows.page(owner)])


def place(kind: str, row: Any) -> Any:
    """What pages of a kind are in order of."""
    if kind == "proposal":
        return row.value.created_at, row.key
    return row.number if kind == "merge" else row.key


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Ends a transaction."""


class RowsSpec(StoreSpec):
    """What `graphsearch.protocols.rows` says of reads and of the port."""

    async def test_rows_are_the_same_however_they_are_read(self, store: GraphStore) -> None:
        await lived_in(store)
        async with store.snapshot():
            counts = await store.counts(list(KINDS))
            for kind, columns in KINDS.items():
                every = await every_row(store, kind)
                assert plain(await store.rows(kind, [row.key for row in every])) == plain(every)
                assert counts.rows[kind] == len(every)
                for column, of in columns.items():
                    values = {value for row in every for value in of(row)}
                    for wanted in [*([value] for value in values), values]:
                        expected = [row for row in every if not set(wanted).isdisjoint(of(row))]
                        assert plain(await store.rows_by(kind, column, wanted)) == plain(expected)

    async def test_pages_are_in_order_and_leave_nothing_out(self, store: GraphStore) -> None:
        await lived_in(store)
        async with store.snapshot():
            for kind in KINDS.keys() - _BY_OWNER.keys():
                every, paged = await store.page(kind), list[Any]()
                while page := await store.page(kind, after=place(kind, paged[-1]) if paged else None, limit=2):
                    assert len(page) <= 2
                    paged += page
                assert [place(kind, row) for row in paged] == sorted(place(kind, row) for row in every)
                assert plain(paged) == plain(every)

    async def test_forms_and_trees_are_those_of_the_rows(self, store: GraphStore) -> None:
        await lived_in(store)
        async with store.snapshot():
            entities = [row.entity for row in await store.page("entity")]
            into = {each.id: each.merged_into for each in entities if each.merged_into}
            assert into
            assert await store.tree([each.id for each in entities]) == into
            written = list(await every_row(store, "mention"))
            but = written[0].mention.memory_id
            for without in ([], [but]):
                expected = [
                    (each.entity_id, each.surface, each.type, row.signature)
                    for row in written
                    if (each := row.mention).memory_id not in without
                ]
                found = await store.forms([each.id for each in entities], without)
                keys = [(each.entity_id, each.surface, each.type, each.signature) for each in found]
                assert len(keys) == len(set(keys))
                assert dict(zip(keys, (each.count for each in found), strict=True)) == {
                    key: expected.count(key) for key in expected
                }

    @pytest.mark.parametrize("end", ["kept", "discarded", "raised"])
    async def test_rows_are_written_together_at_the_end_or_not_at_all(self, store: GraphStore, end: str) -> None:
        await lived_in(store)
        [old] = await store.rows("entity", [ADA.id])
        [link, *_] = await store.page("link")
        new = attrs.evolve(old, entity=attrs.evolve(old.entity, description="Wrote programs."))
        with suppress(Stopped):
            async with store.writing(changing=True) as port:
                await port.put("entity", [new], {old.key: old})
                await port.drop("link", [link.key], {})
                await port.put("counter", [Entry("seen", 7)], {})
                await port.finish({})
                async with store.snapshot():
                    assert await store.rows("entity", [ADA.id]) == [old]
                if end == "discarded":
                    port.discard()
                if end == "raised":
                    raise Stopped
        kept = end == "kept"
        assert await store.rows("entity", [ADA.id]) == [new if kept else old]
        assert [row.key for row in await store.rows("link", [link.key])] == ([] if kept else [link.key])
        assert [row.value for row in await store.rows("counter", ["seen"])] == ([7] if kept else [])
        words = await store.document_frequencies(ElementKind.ENTITY, [store.analyser.terms("programs")])
        assert words == [int(kept)]

    async def test_of_two_rows_added_with_one_key_the_first_is_kept(self, store: GraphStore) -> None:
        await lived_in(store)
        async with store.writing(alone=False) as port:
            assert await port.add("session", Entry("new", "User:ada")) == Entry("new", "User:ada")
            await port.finish({})
        async with store.writing(alone=False) as port:
            assert await port.add("session", Entry("new", "User:bob")) == Entry("new", "User:ada")
            await port.finish({})

    async def test_rows_are_dropped_by_a_column_and_by_kind(self, store: GraphStore) -> None:
        await lived_in(store)
        links = list(await store.page("link"))
        end = links[0].key[0]
        gone = [row.key for row in links if end in row.key[:2]]
        async with store.writing() as port:
            assert await port.drop_by("link", "memory", [end]) == len(gone)
            await port.finish({})
        assert [row.key for row in await store.page("link")] == [row.key for row in links if row.key not in gone]
        async with store.writing() as port:
            await port.clear(["link"])
            await port.finish({})
        assert await store.page("link") == []
