"""Fixtures live in plug-ins, one a subject."""

pytest_plugins = ["pytester", "tests.fix_postgres", "tests.fix_stores"]
