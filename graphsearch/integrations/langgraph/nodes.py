"""LangGraph nodes: one adds context before the model is called, others remember and report the outcome afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Unpack

from langchain_core.messages import HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.sources.stated import read_stated
from graphsearch.integrations.langchain.agent_tools import (
    Asker,
    Remembering,
    building,
    caller_of,
    counts_of,
    facts_of,
    remembered,
)
from graphsearch.model import Memory, Outcome
from graphsearch.sync.facade import blocking

Update = dict[str, Any]
_ROLES: Final = {"human": "user", "ai": "assistant"}


def context_node(
    context: ContextBuilder,
    *,
    gate: Asker,
    session_id: str = "",
    query_key: str = "",
    messages_key: str = "messages",
    output_key: str = "context",
    facts_key: str = "",
    **options: Any,
) -> Runnable[Any, Update]:
    """A node that puts the text of the block for a session into the state, under ``output_key``.

    * ``gate``: the gate, or a function that makes it from the config of a run.
    * ``session_id``: the session that the block is logged for; default: the ``thread_id`` of the run.
    * ``query_key``: the key of the question in the state; default: the last human message of ``messages_key``.
    * ``facts_key``: the key for the tokens and the ids of the block, as in `facts_of`; default: none.

    The ``options`` are those of a `ContextRequest`. A run raises `InvalidInputError` if there is no question or no
    session, and what `ContextBuilder.build` raises.
    """
    build = building(context, gate, session_id, options)

    async def ask(state: Any, config: RunnableConfig) -> Update:
        query = _value(state, query_key) if query_key else _last_human(_value(state, messages_key), messages_key)
        block = await build(query, config)
        return {output_key: block.text, **({facts_key: facts_of(block)} if facts_key else {})}

    return RunnableLambda(blocking(ask), afunc=ask, name="context")


def outcome_node(
    context: ContextBuilder, *, gate: Asker, session_id: str = "", outcome_key: str = "outcome", report_key: str = ""
) -> Runnable[Any, Update]:
    """A node that reports the outcome in the state, under ``outcome_key``: an `Outcome`, or its name in any case.

    ``report_key`` is the key for the counts of applied, replaced, repeated, missing and denied elements; default: none.
    A run raises `InvalidInputError` if there is no such outcome or no session, and what `ContextBuilder.feedback`
    raises.
    """

    async def report(state: Any, config: RunnableConfig) -> Update:
        outcome = _outcome(_value(state, outcome_key), outcome_key)
        asker, session = caller_of(gate, session_id, config)
        report = await context.feedback(session, outcome, gate=asker)
        return {report_key: counts_of(report)} if report_key else {}

    return RunnableLambda(blocking(report), afunc=report, name="outcome")


def remember_node(
    engine: GraphSearchEngine,
    *,
    gate: Asker,
    session_id: str = "",
    messages_key: str = "messages",
    facts_key: str = "stated_facts",
    entities_key: str = "stated_entities",
    report_key: str = "",
    **how: Unpack[Remembering],
) -> Runnable[Any, Update]:
    """A node that remembers the messages of people and models in the state that are new to the session.

    What your model states of them is in the state under ``facts_key`` and ``entities_key``: `Fact` objects, mappings
    with their fields, or lines such as "Ada | works at | Globex | since 2024". ``report_key`` is the key for what
    became of each fact, a line each; default: none. A run raises `InvalidInputError` with every fault of these, and
    what `graphsearch.ingest.Ingestor.remember` raises.
    """

    async def remember(state: Any, config: RunnableConfig) -> Update:
        asker, session = caller_of(gate, session_id, config)
        given = {"facts": _value(state, facts_key), "entities": _value(state, entities_key)}
        turns = [
            Memory(
                id=f"{session}:{position}",
                text=str(message.text),
                speaker=_ROLES[message.type],
                session_id=session,
                position=position,
            )
            for position, message in enumerate(convert_to_messages(_value(state, messages_key) or ()))
            if message.type in _ROLES and str(message.text).strip()
        ]
        lines = await remembered(turns, read_stated(given), engine, asker, **how)
        return {report_key: lines} if report_key else {}

    return RunnableLambda(blocking(remember), afunc=remember, name="remember")


def _value(state: Any, key: str) -> Any:
    """The value under a key of a state, a mapping or an object; None if missing."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _last_human(messages: Any, key: str) -> str:
    for message in reversed(convert_to_messages(messages or ())):
        if isinstance(message, HumanMessage):
            return str(message.text)
    raise InvalidInputError("state", [f"{key!r} has no human message to take the question from: pass query_key=…"])


def _outcome(value: Any, key: str) -> Outcome:
    if isinstance(value, Outcome):
        return value
    known = {outcome.name.lower(): outcome for outcome in Outcome}
    outcome = known.get(value.lower()) if isinstance(value, str) else None
    if outcome is None:
        raise InvalidInputError("state", [f"{key!r} must be one of {', '.join(known)}, not {value!r}"])
    return outcome
