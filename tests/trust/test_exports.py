"""Exports behind a gate: refused where anything is hidden, else the file that the owner gets."""

from __future__ import annotations

import random
from pathlib import Path

from graphsearch.errors import PartialViewError
from graphsearch.moving import export_scope
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.properties import FAST
from tests.trust.worlds import World, policy


async def test_an_export_shows_nothing_hidden(tmp_path: Path) -> None:
    refused = same = 0
    for seed in range(20 if FAST else 120):
        rng = random.Random(seed)  # noqa: S311 - no secret
        world = World.of(rng, texts=True)
        gate, seen = policy(rng)
        stores = InMemoryGraphStore(clock=FixedClock())
        everything, without = (stores.with_scope(org_id="acme", project_id=name) for name in ("everything", "without"))
        visible = world.visible(seen)
        await world.write(everything)
        await visible.write(without)
        path, whole = tmp_path / f"{seed}", tmp_path / f"{seed} whole"
        try:
            await export_scope(everything, path, gate=gate)
        except PartialViewError as error:
            assert str(error) == "exports of a scope are made of the whole graph, and the policies hide a part of it"
            assert not path.exists()
            refused += 1
        else:
            await export_scope(without, whole)
            assert path.read_bytes() == whole.read_bytes(), seed
            same += 1
    assert refused
    assert same
