"""The gate and the session of a LangChain run."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.runnables import RunnableConfig

from graphsearch.access.gate import Gate
from graphsearch.errors import InvalidInputError

Asker = Gate | Callable[[RunnableConfig], Gate]
"""One gate for all runs, or a function that makes it from the config of a run, which holds the principal."""


def gate_of(asker: Asker, config: RunnableConfig) -> Gate:
    """The gate of a run."""
    return asker if isinstance(asker, Gate) else asker(config)


def session_of(session_id: str, config: RunnableConfig) -> str:
    """The given session, else the thread of the run.

    Raises `InvalidInputError` if there is neither.
    """
    session = session_id or config.get("configurable", {}).get("thread_id")
    if not session:
        raise InvalidInputError(
            "session", ["pass session_id=…, or run with config={'configurable': {'thread_id': …}}: feedback needs it"]
        )
    return str(session)
