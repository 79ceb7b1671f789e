"""Fixtures live in plug-ins, one a subject."""

import gc
from collections.abc import Generator

import pytest

from tests.properties import load_profile

pytest_plugins = ["pytester", "tests.fix_branches", "tests.fix_postgres", "tests.fix_stores"]

load_profile()

MADE_ONCE = ("test_site.py", "test_benchmarks.py")
"""Modules that make something long for all of their tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what is made once: of tests that run in parallel, the last ones move, and would make it again."""
    items.sort(key=lambda item: item.path.name not in MADE_ONCE)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while tests are collected nor, later, among them; and seldom, since tests leave little.

    The thousands of tests and their modules stay to the end: to go through them again and again takes a tenth of the
    time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()
