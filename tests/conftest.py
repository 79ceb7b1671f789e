"""Fixtures live in plug-ins, one a subject."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "tests.fix_postgres", "tests.fix_stores"]

# A machine under load draws and runs examples slowly, which says nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
