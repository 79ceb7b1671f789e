"""Clients and servers killed in the middle of a change leave it undone or done, and it can be repeated."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from pathlib import Path

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.index import upkeep
from tests.fix_postgres import Database
from tests.integrations.team import EMBEDDER
from tests.trust.kills import NEW, kills, opened, rewrite, rewrite_and_die, seen


async def test_kills(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "WAITING", upkeep.WAITING)  # put back at the end
    async with EmbeddedPostgres(server_folder) as server:
        found = await kills(server.dsn, 7, seed=1)
    assert found["kills"] == 7


async def test_a_rewrite_that_is_killed_before_it_prunes_leaves_nothing_unnamed(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "WAITING", upkeep.WAITING)
    found = []
    for project in ("killed", "whole"):
        async with opened(postgres_database.dsn, project) as store:
            engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
            await Ingestor(engine).remember(NEW[:1])
            if project == "killed":
                process = multiprocessing.get_context("forkserver").Process(
                    target=rewrite_and_die, args=(postgres_database.dsn, project)
                )
                process.start()
                await asyncio.to_thread(process.join)
                assert process.exitcode == -signal.SIGKILL
                assert "Acme" not in {each.name for each in await store.list_entities()}
            await rewrite(engine)
            found.append(await seen(store))
    assert found[0] == found[1]
