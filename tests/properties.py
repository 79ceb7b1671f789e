"""The number of examples with which a property is tested."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

FAST: Final = bool(os.environ.get("GRAPHSEARCH_FAST_TESTS"))
"""Whether a tenth of the examples is enough, as for a quick local run."""

DEFAULT_EXAMPLES: Final = 25


def examples(count: int) -> settings:
    """Settings with ``count`` examples, or a tenth of them in a fast run."""
    return settings(max_examples=max(count // 10, 3) if FAST else count)


def load_profile() -> None:
    """Set what every property has in common.

    A machine under load draws and runs examples slowly, which is no fault of the code. Fixtures of a function are
    shared by its examples: each example writes into a scope of its own.
    """
    settings.register_profile(
        "graphsearch",
        examples(DEFAULT_EXAMPLES),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("graphsearch")
