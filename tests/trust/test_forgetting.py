"""A graph that stored secrets and forgot them equals one that never stored them, whatever happened in between."""

from __future__ import annotations

import pytest

from tests.fix_postgres import Database
from tests.trust.forgetting import in_memory, in_postgres


@pytest.mark.parametrize("seed", [*range(9), 2996])
async def test_memory_keeps_nothing_of_secrets(seed: int) -> None:
    await in_memory(seed)


async def test_postgres_keeps_nothing_of_secrets(postgres_database: Database) -> None:
    for seed in range(2):
        await in_postgres(postgres_database.dsn, postgres_database.admin_dsn, seed, steps=10)
