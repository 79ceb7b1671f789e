"""Fixtures live in plug-ins, one a subject."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from tests.properties import load_profile

pytest_plugins = ["pytester", "tests.fix_postgres", "tests.fix_stores"]

STORES: Final = Path(__file__).parent / "stores"

load_profile()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Leave out of the coverage what reaches nothing that other tests do not: a tracer triples its time."""
    for item in items:
        if item.get_closest_marker("hypothesis") or _repeats_on_postgres(item):
            item.add_marker("no_cover")


def _repeats_on_postgres(item: pytest.Item) -> bool:
    """Whether a test runs on both stores, and this is its turn on Postgres, whose own code `tests/stores` measures."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and "postgres" in callspec.id.split("-") and STORES not in item.path.parents
