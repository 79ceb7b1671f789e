"""On whose behalf, and in which session, a runnable of LangChain is called."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.runnables import RunnableConfig

from graphsearch.errors import InvalidInputError
from graphsearch.model import Principal

Asker = Principal | Callable[[RunnableConfig], Principal]
"""Who asks: always the same, or whom your authentication put into the config of a run."""


def principal_of(asker: Asker, config: RunnableConfig) -> Principal:
    """Who asks in this run."""
    return asker if isinstance(asker, Principal) else asker(config)


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
