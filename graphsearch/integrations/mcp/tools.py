"""The tools: operations of the table as a profile lists them, and a pair that finds and calls the others."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import attrs
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations

from graphsearch._support.concurrency import within
from graphsearch.access.reader import reading
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.context import DEFAULT_BUDGETS, ContextBlock
from graphsearch.curation.browsing import EntityGraph
from graphsearch.errors import GraphSearchError, UnknownScopeError
from graphsearch.model import KNOWN_RELATION_TYPES, Scope
from graphsearch.model.codec import Says, decode, schema
from graphsearch.model.proposals import Proposed
from graphsearch.modes.natural_language import visible_schema
from graphsearch.operations.brief import TRUNCATED, Json, as_text, block_json, brief, fitted, shown
from graphsearch.operations.operation import Effect, Operation, Profile
from graphsearch.operations.remembering import GOOD_FACTS
from graphsearch.operations.service import Caller, GraphService, Identity
from graphsearch.operations.serving import Desk
from graphsearch.text.rendering import safe_text

_log = logging.getLogger(__name__)

FIND_TOOL: Final = "find_tool"
CALL_TOOL: Final = "call_tool"
USUAL_TYPES: Final = (
    *("works_at", "reports_to", "leads", "member_of", "lives_in", "uses", "depends_on", "prefers", "has_status"),
)
"""Types of relations that are named where a scope has few of its own."""
_MOST_TYPES: Final = 9
_LOOKED_AT: Final = 2_000
_FOUND: Final = 5
_SHORT: Final = 2
_WORD: Final = re.compile(r"[a-z]+")


@attrs.frozen(kw_only=True)
class FindTool:
    """The arguments of find_tool."""

    query: Annotated[str, Says("What you want to do.", 1, 400)]


@attrs.frozen(kw_only=True)
class CallTool:
    """The arguments of call_tool."""

    name: str
    arguments: Mapping[str, Any] = attrs.field(factory=dict)


_PAIR: Final = (
    (FIND_TOOL, FindTool, "Find further tools: entities, timelines, duplicates, merges, health, forgetting.", True),
    (CALL_TOOL, CallTool, "Call a tool that find_tool found.", False),
)


async def listed(desk: Desk, identity: Identity) -> list[Tool]:
    """The tools of the service's profile; a profile that leaves any out also lists the pair that reaches them."""
    rows, profile = desk.rows(desk.service.profile), desk.service.profile
    types = await _types(desk, identity) if any(each.name == "remember" for each in rows) else ()
    tools = [_tool(each, types, told=each.listed if profile == Profile.AGENT else ()) for each in rows]
    if len(rows) == len(desk.rows()):
        return tools
    pair = (
        Tool(
            name=name,
            description=text,
            input_schema=schema(arguments),
            annotations=ToolAnnotations(read_only_hint=reads or desk.service.read_only, open_world_hint=False),
        )
        for name, arguments, text, reads in _PAIR
    )
    return [*tools, *pair]


def _tool(operation: Operation, types: Sequence[str], *, told: Sequence[str] = ()) -> Tool:
    arguments = schema(operation.request)
    if told:  # the other arguments are accepted, but every prompt would pay for them
        arguments["properties"] = {name: arguments["properties"][name] for name in told}
    return Tool(
        name=operation.name,
        description=_description(operation, types),
        input_schema=arguments,
        annotations=ToolAnnotations(
            read_only_hint=operation.reads,
            destructive_hint=operation.effect is Effect.LOSES,
            idempotent_hint=not operation.repeats,
            open_world_hint=False,
        ),
    )


def _description(operation: Operation, types: Sequence[str] = USUAL_TYPES) -> str:
    return operation.agents.replace("{good_facts}", GOOD_FACTS).replace("{types}", ", ".join(types))


def find(desk: Desk, given: Mapping[str, Any]) -> Json:
    """The tools whose names and descriptions share most words with a query, and their arguments."""
    wanted = _words(decode(FindTool, dict(given), FIND_TOOL, lenient=True).query)
    scored = [(len(wanted & _words(f"{each.name} {each.people} {each.agents}")), each) for each in desk.rows()]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:_FOUND]
    tools = [
        {"name": each.name, "description": _description(each), "arguments": schema(each.request)} for _, each in best
    ]
    found = {"tools": tools} if tools else {"tools": [], "names": [each.name for each in desk.rows()]}
    return fitted(found, counter=desk.service.counter, limit=desk.service.max_tokens)


def _words(text: str) -> set[str]:
    """Its words, without their endings: a plural names what a singular does."""
    return {word.removesuffix("s")[:6] for word in _WORD.findall(text.casefold()) if len(word) > _SHORT}


async def _types(desk: Desk, identity: Identity) -> Sequence[str]:
    """The types of relations of the scope; usual ones where it has none, or its store does not answer."""
    if desk.is_off(identity):
        return USUAL_TYPES
    try:
        async with within(desk.service.time_limit):
            return await _types_of(desk.service.caller(identity))
    except UnknownScopeError:
        return USUAL_TYPES
    except GraphSearchError as error:  # tools are listed all the same, and their calls say what is wrong
        _log.warning("the types of a scope are not listed: %s", safe_text(str(error)))
        return USUAL_TYPES


async def _types_of(caller: Caller) -> list[str]:
    """Types that facts may have: the most used that are visible, those registered, and usual ones."""
    async with reading(caller.engine.store, gate=caller.gate) as reader:
        used = (await visible_schema(reader, _LOOKED_AT)).relation_types
    registered = [each.name for each in await caller.curator.relation_types() if each.name not in KNOWN_RELATION_TYPES]
    known = dict.fromkeys([*used, *registered, *USUAL_TYPES])
    return [shown(name) for name in known if name not in CO_OCCURRENCE_TYPES][:_MOST_TYPES]


def asked(operation: Operation, given: Mapping[str, Any], service: GraphService) -> Any:
    """The request of a call. A block has at most half of the tokens of an answer: the rest is for what comes along."""
    request = operation.read(given)
    if operation.result is not ContextBlock:
        return request
    budget = DEFAULT_BUDGETS[request.work_type] if request.budget is None else request.budget
    return attrs.evolve(request, budget=min(budget, service.max_tokens // 2))


def answer(operation: Operation, request: Any, value: Any, service: GraphService, scope: Scope) -> CallToolResult:
    """The result of a call: JSON as text and as data, except for a context block without details, which is text."""
    plain = isinstance(value, ContextBlock) and not request.details
    told = block_json(value) if isinstance(value, ContextBlock) else brief(value)
    data = {operation.key: told} if operation.key and not isinstance(value, Proposed) else told
    if plain:
        data = {name: each for name, each in data.items() if not isinstance(each, list)}
    found = _with_hint(fitted(data, counter=service.counter, limit=service.max_tokens), scope)
    if plain:
        notes = "\n".join(f"{name}: {found[name]}" for name in ("time", "reason", "session_id") if name in found)
        text = "\n\n".join(part for part in (found.get("text"), found.get("summary"), notes) if part)
        return CallToolResult(content=[TextContent(type="text", text=text)])
    return result(_whole(found) if isinstance(value, EntityGraph) else found)


def _whole(found: Json) -> Json:
    """A fitted graph without the links whose ends did not fit."""
    there = {node["id"] for node in found["nodes"]}
    given = found.get("links", [])
    links = [link for link in given if {link["source"], link["target"]} <= there]
    missing = found.get(TRUNCATED, 0) + len(given) - len(links)
    return {**found, "links": links, **({TRUNCATED: missing} if missing else {})}


def _with_hint(data: Json, scope: Scope) -> Json:
    """Say what to do where a question finds nothing: the same whether nothing is there or nothing may be seen."""
    if not data.get("reason") or data.get("text") or any(each for each in data.values() if isinstance(each, list)):
        return data
    hint = f"a new project is empty until something is remembered; is it the right one, {safe_text(str(scope))}?"
    return {**data, "reason": f"{data['reason']}; {hint}"}


def result(data: Json, *, is_error: bool = False) -> CallToolResult:
    """A result in both forms of the protocol: as text for the model, and as data."""
    return CallToolResult(
        content=[TextContent(type="text", text=as_text(data))], structured_content=data, is_error=is_error
    )
