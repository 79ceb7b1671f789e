"""On whose behalf, and in which session, a runnable of LangChain is called."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.runnables import RunnableConfig

from graphsearch.access.gate import Gate
from graphsearch.errors import InvalidInputError

Asker = Gate | Callable[[RunnableConfig], Gate]
"""Who asks: always the same gate, or that of whom your authentication put into the config of a run."""


def gate_of(asker: Asker, config: RunnableConfig) -> Gate:
    """Who asks in this run."""
    return asker if isinstance(asker, Gate) else asker(config)


def session_of(session_id: str, config: RunnableConfig) -> str:
    """The session that was given, else the thread of the run.

    Raises `InvalidInputError` where there is neither.
    """
    session = session_id or config.get("configurable", {}).get("thread_id")
    if not session:
        raise InvalidInputError(
            "session", ["pass session_id=…, or run with config={'configurable': {'thread_id': …}}: feedback needs it"]
        )
    return str(session)
