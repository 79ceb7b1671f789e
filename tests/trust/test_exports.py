"""Exports behind a gate: refused where anything is hidden, else the file that the owner gets."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from graphsearch.errors import PartialViewError
from graphsearch.moving import export_scope
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.properties import FAST
from tests.trust.worlds import World, policy

WHOLE = "exports of a scope are made of the whole graph, and the policies hide a part of it"


async def test_an_export_shows_nothing_hidden(tmp_path: Path) -> None:
    refused = 0
    for seed in range(8 if FAST else 30):
        rng = random.Random(seed)  # noqa: S311 - no secret
        world = World.of(rng, texts=True)
        gate, seen = policy(rng)
        stores = InMemoryGraphStore(clock=FixedClock())
        everything, without = (stores.with_scope(org_id="acme", project_id=name) for name in ("everything", "without"))
        visible = world.visible(seen)
        await world.write(everything)
        await visible.write(without)
        gated, owned = tmp_path / "gated", tmp_path / "owned"
        if visible != world:
            with pytest.raises(PartialViewError, match=WHOLE):
                await export_scope(everything, gated, gate=gate)
            assert not gated.exists()
            refused += 1
        await export_scope(without, gated, gate=gate)
        await export_scope(without, owned)
        assert gated.read_bytes() == owned.read_bytes(), seed
        gated.unlink()
    assert refused > 1
