"""Everything that a principal may ask of a graph, by name: verbs, modes, tools, resources, exports.

An answer is compared with another as plain data: without the ids of relations, which follow from what they were first
folded from, without counts of what is hidden, which are for the application alone, and in an order of its own where
scores are equal.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.context import ContextBlock
from graphsearch.curation.curator import Curator
from graphsearch.display.printing import Displayed
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, InvalidInputError, LLMAnswerError, UnknownElementError
from graphsearch.export import plain_graph, to_dot, to_graphml, to_mermaid, to_networkx
from graphsearch.integrations.mcp.server import context_for_task, read
from graphsearch.model import ElementKind, ElementRef, Entity, Relation, Triplet
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchMode, SearchResult
from graphsearch.operations.service import Caller, GraphService
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.testing.fakes import EchoLLM, WordCounter
from tests.tools import Tool

MANY: Final = 50
REFUSED: Final = "refused"
"""The answer to a change that touches something hidden: nothing was changed."""


@attrs.frozen
class Subject:
    """What is asked about: two names, and a memory and a relation, any of which may be hidden or unknown."""

    one: str
    other: str
    memory: str
    relation: UUID
    mode: SearchMode
    ranking: Ranking

    @property
    def query(self) -> str:
        """A question in words, of which one name may be misspelt."""
        one = self.one.replace("e", "a", 1) if self.one < self.other else self.one
        return f"what of {one} and {self.other}?"


@attrs.frozen(eq=False, slots=False)
class Side:
    """One of two worlds, as somebody asks it."""

    engine: GraphSearchEngine
    gate: Gate
    llm: EchoLLM
    exact: bool = False
    """Whether statistics cover the visible alone, so that every score is compared."""

    @cached_property
    def curator(self) -> Curator:
        """Curation on behalf of the principal."""
        return Curator(self.engine, gate=self.gate)

    @cached_property
    def caller(self) -> Caller:
        """The caller of tools."""
        service = GraphService(
            engine_of=lambda _: self.engine,
            authorizer=self.gate.authorizer,
            statistics=self.gate.statistics,
            counter=WordCounter(),
            max_tokens=1_000_000,
        )
        return Caller(service, self.gate, self.engine, self.engine)

    async def triplet(self, about: Subject) -> Triplet | None:
        """The relation around the first name that comes first on both sides."""
        found = await self.engine.neighbors(about.one, gate=self.gate, limit=MANY)
        return min(found, key=lambda each: str(plain(each)), default=None)


# -- plain data ---------------------------------------------------------------------------------------------------

_LEFT_OUT: Final = {
    "relation_id",
    "relation_ids",
    "merge_id",
    "key",
    "timings",
    "timings_ms",
    "denied",
    "left_out",
    "session_id",
    "injection_id",
}


def plain(value: Any) -> Any:
    """An answer as plain data that can be compared: lists sorted, numbers rounded, ids of relations left out."""
    match value:
        case Entity():
            return (str(value.id), value.type, value.name, value.aliases, value.labels, value.created_at)
        case Relation():
            ends = (str(value.source_id), value.type, str(value.target_id), value.fact)
            times = value.valid_from, value.valid_to, value.supported_at, value.created_at
            return (*ends, round(value.confidence, 9), value.evidence, *times)
        case Triplet():
            return (*map(plain, (value.source, value.relation, value.target)), round(value.score, 9))
        case Mapping():
            left_out = {*_LEFT_OUT, "id"} if "source_id" in value else _LEFT_OUT
            return {str(name): plain(each) for name, each in value.items() if name not in left_out}
        case list() | tuple() | set() | frozenset():
            return sorted(map(plain, value), key=str)
        case float():
            return round(value, 9)
    return value


def _lines(text: str) -> list[str]:
    """Lines, sorted."""
    return sorted(text.split("\n"))


def _page(shown: Displayed) -> Any:
    """What a notebook shows, without counts of what is hidden."""
    cleared: Any = attrs.evolve(shown, denied={}) if hasattr(shown, "denied") else shown  # type: ignore[misc]
    return [_lines(text) for text in cleared._repr_mimebundle_().values()]


def _files(shown: Any) -> Any:
    """An answer in every format of export, its nodes and links sorted and without the ids of links."""
    graph = plain_graph(shown)
    nodes = sorted(map(plain, graph["nodes"]), key=str)
    links = sorted(({**plain(each), "key": ""} for each in graph["links"]), key=str)
    links = [{**each, "key": str(number)} for number, each in enumerate(links)]
    drawn = {**graph, "nodes": nodes, "links": links}
    network = to_networkx(drawn)
    return (
        *(form(drawn) for form in (to_mermaid, to_dot, to_graphml)),
        (list(network.nodes(data=True)), list(network.edges(data=True))),
    )


def _block(block: ContextBlock) -> Any:
    shown = [each.memory.id for each in block.memories], list(block.triplets)
    return (*plain(shown), _lines(block.text), block.skipped, block.skipped_memories, block.reason)


# -- questions ----------------------------------------------------------------------------------------------------

Question = Callable[[Side, Subject], Awaitable[Any]]


async def _searched(side: Side, about: Subject) -> SearchResult:
    result = await side.engine.search(about.query, mode=about.mode, gate=side.gate, limit=MANY)
    return attrs.evolve(result, left_out={})  # counts for the owner alone


async def search(side: Side, about: Subject) -> Any:
    """A search in some mode."""
    result = await _searched(side, about)
    return plain((result.triplets, [each.name for each in result.anchors], result.reason, result.found))


async def search_exported(side: Side, about: Subject) -> Any:
    """A search, in files and in a notebook."""
    result = await _searched(side, about)
    return _files(result), _page(result)


async def shown_to_models(side: Side, about: Subject) -> Any:
    """What language models are asked in the modes that need one."""
    for mode in (SearchMode.SUMMARY, SearchMode.NATURAL_LANGUAGE):
        with suppress(LLMAnswerError):
            await side.engine.search(about.query, mode=mode, gate=side.gate)
    return list(map(_lines, side.llm.asked))


async def recall(side: Side, about: Subject) -> Any:
    """Memories that answer, in a notebook too."""
    result = await side.engine.recall(about.query, gate=side.gate, limit=MANY)
    if side.exact:
        return plain(encode(result)), _page(result)
    return plain(([each.memory.id for each in result.memories], result.reason))


async def rank_entities(side: Side, about: Subject) -> Any:
    """Entities that answer, in a notebook too."""
    result = await side.engine.rank_entities(about.query, ranking=about.ranking, gate=side.gate, limit=MANY)
    if side.exact:
        return plain(encode(result)), _page(result)
    return plain([(each.entity, each.connections, each.relation_types) for each in result.entities])


async def neighbors(side: Side, about: Subject) -> Any:
    """Triplets around an entity."""
    return plain(await side.engine.neighbors(about.one, gate=side.gate, limit=MANY))


async def path(side: Side, about: Subject) -> Any:
    """The way between two entities, in files and in a notebook too."""
    found = await side.engine.path(about.one, about.other, gate=side.gate)
    return found and (plain((found.entities, found.relations, found.strength)), _files(found))


async def _relation(side: Side, about: Subject) -> UUID:
    """A relation by its id, and sometimes one that is found by name, since ids of folded ones differ."""
    triplet = None if about.one < about.other else await side.triplet(about)
    return about.relation if triplet is None else triplet.relation.id


async def explain(side: Side, about: Subject) -> Any:
    """Why a relation was found, in a notebook too."""
    element = ElementRef(ElementKind.RELATION, str(await _relation(side, about)))
    found = await side.engine.explain(about.query, element, gate=side.gate, mode=about.mode)
    return plain({**encode(found), "element": ""}), _page(found)


async def why(side: Side, about: Subject) -> Any:
    """What a relation rests on."""
    found = await side.curator.why(await _relation(side, about))
    proofs = [(each.memory.id, each.quote, each.pattern, each.adds) for each in found.proofs]
    return plain((found.source, found.relation, found.target, proofs, found.given))


async def block(side: Side, about: Subject) -> Any:
    """A block, in a notebook too."""
    found = await side.caller.builder.build(about.query, gate=side.gate, session_id="s", budget=400)
    return _block(found), _page(found), side.exact and _files(found)


async def find_duplicates(side: Side, about: Subject) -> Any:
    """Pairs that may be one."""
    del about
    return [str(plain((each.one, each.other))) for each in await side.curator.find_duplicates()]


async def find_ambiguous(side: Side, about: Subject) -> Any:
    """Names that several people have."""
    del about
    return [plain((each.entity, each.candidates)) for each in await side.curator.find_ambiguous()]


async def merges(side: Side, about: Subject) -> Any:
    """Merges made."""
    del about
    return [(each.source_id, each.target_id) for each in await side.curator.merges()]


async def contradictions(side: Side, about: Subject) -> Any:
    """Relations that exclude each other."""
    del about
    found = await side.curator.contradictions()
    return plain([(str(each.source_id), each.type, plain((each.one, each.other))) for each in found])


async def search_entities(side: Side, about: Subject) -> Any:
    """Entities by a name, by its beginning, and misspelt."""
    typed = about.one, about.one[:3], about.one[1:], about.one.replace("e", "a", 1)
    return [plain([each.entity for each in await side.curator.search_entities(each)]) for each in typed]


async def recall_entity(side: Side, about: Subject) -> Any:
    """Everything about an entity."""
    found = await side.curator.recall_entity(about.one)
    return plain((found.entity, found.triplets, [each.id for each in found.memories]))


async def recall_related(side: Side, about: Subject) -> Any:
    """Entities within two hops."""
    return plain([(each.entity, each.hops, each.path) for each in await side.curator.recall_related(about.one)])


async def entity_graph(side: Side, about: Subject) -> Any:
    """The graph around an entity, in files too."""
    found = await side.curator.entity_graph(about.one, depth=2)
    return plain(dict(found)), _files(found), _page(found)


async def backlinks(side: Side, about: Subject) -> Any:
    """Mentions of an entity."""
    return [
        (each.memory.id, plain(list(map(attrs.astuple, each.mentions))))
        for each in await side.curator.backlinks(entity=about.one)
    ]


async def entity_timeline(side: Side, about: Subject) -> Any:
    """What happened to an entity."""
    found = await side.curator.entity_timeline(about.one)
    return plain([(each.at, each.kind, each.relation, each.entity, each.memory and each.memory.id) for each in found])


async def prompt(side: Side, about: Subject) -> Any:
    """The prompt of the MCP server."""
    found = (await context_for_task(side.caller, {"task": about.query}))["text"]
    return _lines(re.sub(r"s-[0-9a-f]{12}", "", found))


async def schema(side: Side, about: Subject) -> Any:
    """The resource with the types of the graph."""
    del about
    return plain(await read(side.caller, "graphsearch://schema"))


async def entity_resource(side: Side, about: Subject) -> Any:
    """The resource of an entity."""
    return plain(await read(side.caller, f"graphsearch://entity/{about.one}"))


def tool_question(tool: Tool, arguments: Callable[[Subject], Mapping[str, Any]]) -> Question:
    """A question to a tool."""

    async def ask(side: Side, about: Subject) -> Any:
        answer = await tool.run(side.caller, arguments(about))
        for found in () if side.exact else (answer.get("memories"), answer.get("entities")):
            for each in found if isinstance(found, list) else ():
                each.pop("score", None)  # it depends on statistics, as its factors do
                each.pop("factors", None)
        if "text" in answer:
            answer["text"] = _lines(answer["text"])
        return plain(answer)

    return ask


def rest_question(tool: Tool, arguments: Callable[[Subject], Mapping[str, Any]]) -> Question:
    """A question over REST, compared where scores are."""

    async def ask(side: Side, about: Subject) -> Any:
        if not side.exact:
            return None
        answer = await tool.rest(side.caller, arguments(about))
        answer.pop("injection_ids", None)  # by the names of the scopes, which are two here
        if "text" in answer:
            answer["text"] = _lines(answer["text"])
        return plain(answer)

    return ask


COUNTS: Final = {
    *("relations_moved", "stayed", "forgotten", "reworded"),
    *("mentions", "claims", "relations", "links_removed", "references_removed"),
    *("relations_retracted", "entities_removed", "mentions_removed", "claims_removed"),
    "source_name",
}
"""Counts of what a change touches, and the names of merged entities: given only where nothing can be hidden."""


def _entity(about: Subject) -> Mapping[str, Any]:
    return {"entity": about.one}


def _query(about: Subject) -> Mapping[str, Any]:
    return {"query": about.query, "limit": MANY}


TOOLS: Final[Mapping[Tool, Callable[[Subject], Mapping[str, Any]]]] = {
    Tool("graph_query"): lambda about: {
        "query": about.query,
        "session_id": "t",
        "mode": about.mode,
        "budget": 900,
    },
    Tool("recall"): _query,
    Tool("graph_neighbors"): _entity,
    Tool("graph_path"): lambda about: {"source": about.one, "target": about.other},
    Tool("recall_related"): _entity,
    Tool("entity_graph"): _entity,
    Tool("search_entities"): lambda about: {"query": about.one},
    Tool("recall_entity"): _entity,
    Tool("entity_timeline"): _entity,
    Tool("backlinks"): lambda about: {"memory": about.memory},
}
"""Tools that read, with the arguments of a question."""


OPERATOR_TOOLS: Final[Mapping[Tool, Callable[[Subject], Mapping[str, Any]]]] = {
    Tool("search"): lambda about: {"query": about.query, "mode": about.mode, "limit": MANY},
    Tool("rank_entities"): lambda about: {"query": about.query, "ranking": about.ranking, "limit": MANY},
    Tool("find_duplicates"): lambda _: {},
    Tool("merges"): lambda _: {},
    Tool("find_ambiguous"): lambda _: {},
    Tool("contradictions"): lambda _: {},
    Tool("communities"): lambda _: {},
    Tool("graph_health"): lambda _: {},
    Tool("stats"): lambda _: {},
    Tool("relation_types"): lambda _: {},
}
"""Tools for operators that read, with the arguments of a question."""


PAGE: Final[Mapping[Tool, Callable[[Subject], Mapping[str, Any]]]] = {
    Tool("ask"): lambda about: {"query": about.query},
    Tool("evidence"): lambda about: {"query": about.query, "kind": "entity", "id": about.one},
    Tool("changes"): lambda about: {**_query(about), "since": "2025-01-15"},
    Tool("list_memories"): lambda _: {},
    Tool("preview_forget"): lambda about: {"memory": about.memory},
}
"""What the page alone asks over REST."""


async def proved(side: Side, about: Subject) -> Any:
    """The tool that shows what a relation rests on."""
    return plain(await Tool("why").run(side.caller, {"relation_id": str(await _relation(side, about))}))


async def explained(side: Side, about: Subject) -> Any:
    """The tool that explains: a relation, or whether a memory or an entity may be known at all."""
    found = []
    for kind, id_ in (("relation", str(about.relation)), ("memory", about.memory), ("entity", about.one)):
        try:
            answer = await Tool("explain").run(side.caller, {"query": about.query, "id": id_, "kind": kind})
        except UnknownElementError as error:
            found.append(unknown(error))
        else:
            found.append(plain({**answer, "id": ""}) if side.exact or kind == "relation" else "known")
    return found


QUESTIONS: Final[Mapping[str, Question]] = {
    **{
        each.__name__: each
        for each in (
            *(search, search_exported, shown_to_models, recall, rank_entities, neighbors, path, explain, why, block),
            *(
                find_duplicates,
                find_ambiguous,
                merges,
                contradictions,
                search_entities,
                recall_entity,
                recall_related,
                entity_graph,
            ),
            *(backlinks, entity_timeline, prompt, schema, entity_resource),
        )
    },
    **{f"tool {tool.name}": tool_question(tool, arguments) for tool, arguments in {**TOOLS, **OPERATOR_TOOLS}.items()},
    **{
        f"rest {tool.name}": rest_question(tool, arguments)
        for tool, arguments in {**TOOLS, **OPERATOR_TOOLS, **PAGE}.items()
    },
    "tool explain": explained,
    "tool why": proved,
}
"""By name, all that changes nothing."""

# -- answers ----------------------------------------------------------------------------------------------------

WHOLE: Final = {
    f"{surface} {name}" for surface in ("tool", "rest") for name in ("communities", "graph_health", "stats")
}
"""Questions that are refused where anything is hidden."""

REFUSABLE: Final = WHOLE | {
    *("tool merge_entities", "tool undo_merge", "tool remember", "tool mark_distinct", "tool register_type"),
    "tool expire",
    *("tool detect_communities", "tool refresh_communities"),
}
"""These, and changes that are refused if they touch something hidden."""


def given(one: Any, other: Any) -> Any:
    """An answer of the graph without what is hidden, without the counts that another answer leaves out."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left_out = COUNTS - one.keys()
        return {key: given(one.get(key), each) for key, each in other.items() if key not in left_out}
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        return type(other)(map(given, one, other))
    return other


def unknown(error: UnknownElementError) -> str:
    """The error without the scope."""
    return str(error).split(" in ")[0]


async def answer(question: Question, side: Side, about: Subject) -> Any:
    """The answer to a question; of errors, what they state. What touches something hidden is refused."""
    try:
        return await question(side, about)
    except UnknownElementError as error:
        return unknown(error)
    except AccessDeniedError:
        return REFUSED
    except InvalidInputError as error:
        return str(error)
