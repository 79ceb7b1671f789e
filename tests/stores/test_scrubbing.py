"""The bytes of what was forgotten leave the data folder of a server."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from graphsearch.model import Batch, Memory
from graphsearch.stores import scrub
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore
from tests.stores.test_forgetting import SECRET, write_the_secret, write_what_is_kept

MARK = f"qzx{uuid4().hex}"


def holding(folder: Path) -> dict[str, int]:
    """The files with bytes of the mark, and how often."""
    found = {}
    for file in folder.rglob("*"):
        if file.is_file() and (times := file.read_bytes().lower().count(MARK.encode())):
            found[str(file.relative_to(folder))] = times
    return found


async def test_the_folder_has_no_bytes_of_what_was_forgotten(server_folder: Path) -> None:
    async with EmbeddedPostgres(server_folder) as server:
        async with PostgresGraphStore.open(server.dsn) as store:
            scoped = store.with_scope(org_id="acme", project_id="web")
            await write_what_is_kept(scoped)
            before = await scoped.statistics()
            await write_the_secret(scoped)
            marked = Memory(id=f"{MARK} id", text=f"{MARK} text", source=f"{MARK} source", session_id=f"{MARK} session")
            many = [Memory(id=f"{MARK} {number}", text=f"{MARK} {number} " * 400) for number in range(50)]
            await scoped.write(Batch(memories=(marked, *many)))
            await scoped.settle()
            assert holding(server_folder)
            await scoped.forget([SECRET.id, marked.id, *(each.id for each in many)])
            assert await scoped.statistics() == before
        assert holding(server_folder)  # files keep the bytes of deleted rows
        await scrub(server.admin_dsn)
        assert holding(server_folder) == {}
        async with PostgresGraphStore.open(server.dsn) as store:
            assert await store.with_scope(org_id="acme", project_id="web").statistics() == before
    assert holding(server_folder) == {}
