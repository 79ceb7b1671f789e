"""Fixtures live in plug-ins, one a subject."""

from tests.properties import load_profile

pytest_plugins = ["pytester", "tests.fix_postgres", "tests.fix_stores"]

load_profile()
