"""LangGraph nodes: one adds context before the model is called, one reports the outcome afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from langchain_core.messages import HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from graphsearch._support.options import with_options
from graphsearch.context import ContextBuilder, ContextOptions
from graphsearch.errors import InvalidInputError
from graphsearch.integrations.langchain.agent_tools import Asker, blocking, caller_of, counts_of, facts_of
from graphsearch.model import Outcome

Update = dict[str, Any]


@with_options(ContextOptions, ContextBuilder.build, without=("gate",))
def context_node(
    context: ContextBuilder,
    *,
    gate: Asker,
    session_id: str = "",
    query_key: str = "",
    messages_key: str = "messages",
    output_key: str = "context",
    facts_key: str = "",
    **options: Unpack[ContextOptions],
) -> Runnable[Any, Update]:
    """A node that puts the text of the block for a session into the state, under ``output_key``.

    * ``gate``: the gate, or a function that makes it from the config of a run.
    * ``session_id``: the session that the block is logged for; default: the ``thread_id`` of the run.
    * ``query_key``: the key of the question in the state; default: the last human message of ``messages_key``.
    * ``facts_key``: the key for the tokens and the ids of the block, as in `facts_of`; default: none.

    The ``options`` are those of `ContextBuilder.build`. A run raises `InvalidInputError` if there is no question or no
    session, and what `build` raises.
    """

    async def ask(state: Any, config: RunnableConfig) -> Update:
        query = _value(state, query_key) if query_key else _last_human(_value(state, messages_key), messages_key)
        asker, session = caller_of(gate, session_id, config)
        block = await context.build(query, gate=asker, session_id=session, **options)
        return {output_key: block.text, **({facts_key: facts_of(block)} if facts_key else {})}

    return RunnableLambda(blocking(ask), afunc=ask, name="context")


def outcome_node(
    context: ContextBuilder,
    *,
    gate: Asker,
    session_id: str = "",
    outcome_key: str = "outcome",
    report_key: str = "",
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
