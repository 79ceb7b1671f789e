"""Fixtures live in plug-ins, one a subject."""

from collections.abc import Iterable

import pytest

from tests.properties import load_profile

pytest_plugins = ["pytester", "tests.fix_postgres", "tests.fix_stores"]

load_profile()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Leave properties out of the coverage: a tracer doubles their time, and what they reach differs between runs."""
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")
