"""Opening stores and choosing embedders for commands: the only module that does either."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias, TypedDict, Unpack, cast

import attrs
import typer

from graphsearch.caching import InProcessCache, RedisCache, cached
from graphsearch.embedders import MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.federation import FederatedEngine
from graphsearch.llms import llm_called
from graphsearch.model import Scope
from graphsearch.modes.options import SearchMode
from graphsearch.modes.registry import DEFAULT_MODES, mode_name
from graphsearch.protocols import LLM, Clock, Embedder, GraphStore
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.memory import or_empty
from graphsearch.stores.postgres import PostgresGraphStore

_BY_NAME: Final = (SearchMode.NEIGHBORHOOD, SearchMode.NATURAL_LANGUAGE)
"""Modes that start from names and need no embedder."""


@attrs.frozen(kw_only=True)
class Place:
    """The server and the scope given by the options; ``also`` are other projects that are asked with it.

    ``new``: scopes to which nothing was ever written are empty.
    """

    org: str = ""
    project: str = ""
    also: tuple[str, ...] = ()
    dsn: str = ""
    embedded: Path | None = None
    new: bool = False

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scope, and those that are asked with it."""
        return tuple(Scope(self.org, project) for project in (self.project, *self.also))

    def asking(self, also: Sequence[str] | None) -> Place:
        """The same place, with other projects to ask."""
        return attrs.evolve(self, also=tuple(also or ()))

    def needs_server(self) -> None:
        """Raise `typer.BadParameter` unless exactly one server is named."""
        if bool(self.dsn) == bool(self.embedded):
            raise typer.BadParameter(
                "give either --dsn (or GRAPHSEARCH_DSN) or --embedded (or GRAPHSEARCH_EMBEDDED), and not both"
            )


@asynccontextmanager
async def open_scopes(place: Place, *, clock: Clock | None = None) -> AsyncIterator[PostgresGraphStore]:
    """The scopes of the server at a place; an embedded server runs while they are open.

    ``clock`` defaults to the machine's.
    """
    async with AsyncExitStack() as stack:
        dsn = place.dsn
        if place.embedded is not None:
            dsn = (await stack.enter_async_context(EmbeddedPostgres(place.embedded))).dsn
        yield await stack.enter_async_context(PostgresGraphStore.open(dsn, clock=clock))


class Parts(TypedDict, total=False):
    """What an engine has: nothing, an embedder, or the parts that a search ``mode`` uses.

    Raises `typer.BadParameter` for a mode that needs a language model when none is named, and `UnknownModeError`.
    """

    embed: bool
    mode: str
    llm: str
    llm_url: str


Asked: TypeAlias = GraphSearchEngine | FederatedEngine


@asynccontextmanager
async def open_engine(place: Place, **parts: Unpack[Parts]) -> AsyncIterator[GraphSearchEngine]:
    """An engine over the scope of a place."""
    async with open_asked(attrs.evolve(place, also=()), **parts) as engine:
        yield cast("GraphSearchEngine", engine)


@asynccontextmanager
async def open_asked(
    place: Place, *, embed: bool = False, mode: str = "", llm: str = "", llm_url: str = ""
) -> AsyncIterator[Asked]:
    """An engine over the scope of a place, or over all scopes that are asked with it."""
    model = None
    if mode:
        wanted = mode_name(mode, DEFAULT_MODES)
        if "llm" not in DEFAULT_MODES[wanted].needs:
            llm = llm_url = ""
        elif not llm:
            raise typer.BadParameter(f"--mode {wanted} needs --llm (or GRAPHSEARCH_LLM)")
        embed, model = wanted not in _BY_NAME, choose_llm(llm, llm_url)
    async with open_scopes(place) as scopes:
        found = (scopes.with_scope(org_id=each.org_id, project_id=each.project_id) for each in place.scopes)
        stores = [await or_empty(store) if place.new else store for store in found]
        embedder = await embedder_for(stores[0]) if embed else None
        engines = [GraphSearchEngine(store=store, embedder=embedder, llm=model) for store in stores]
        yield FederatedEngine(engines) if place.also else engines[0]


@asynccontextmanager
async def entity_caches(where: str) -> AsyncIterator[Callable[[GraphStore], GraphStore]]:
    """A function that lets a store read its entities through a cache: in "memory", at a Redis URL, or "none"."""
    async with AsyncExitStack() as stack:

        def through_cache(store: GraphStore) -> GraphStore:
            if where == "none":
                return store
            if where == "memory":
                return cached(store, InProcessCache(scope=store.scope))
            cache = RedisCache(where, scope=store.scope)
            stack.push_async_callback(cache.aclose)
            return cached(store, cache)

        yield through_cache


def choose_llm(name: str, url: str) -> LLM | None:
    """The language model named by the options, if any. Raises `typer.BadParameter` for a URL without a model."""
    if url and not name:
        raise typer.BadParameter("--llm-url (or GRAPHSEARCH_LLM_URL) comes with --llm (or GRAPHSEARCH_LLM)")
    return llm_called(name, base_url=url or None) if name else None


EMBEDDER: Final = "GRAPHSEARCH_EMBEDDER"
"""The variable that names the embedder of all commands."""
_LOCAL: Final[Mapping[str, Callable[[], Embedder]]] = MappingProxyType(
    {
        "wordllama": WordLlamaEmbedder,
        "wordllama-l2-supercat-256": WordLlamaEmbedder,
        "minilm": MiniLMEmbedder,
        "all-minilm-l6-v2": MiniLMEmbedder,
    }
)
"""Local embedders, by a short name and by that of the model."""


def choose_embedder() -> Embedder:
    """The default embedder: that named by GRAPHSEARCH_EMBEDDER, else Voyage if it has a key, else WordLlama."""
    if name := os.environ.get(EMBEDDER):
        return embedder_called(name)
    return VoyageEmbedder() if os.environ.get("VOYAGE_API_KEY") else WordLlamaEmbedder()


def embedder_called(name: str) -> Embedder:
    """The embedder of a name: wordllama, minilm, voyage, or the model of one. Raises `typer.BadParameter`."""
    if not is_known(name):
        raise typer.BadParameter(f"an embedder is wordllama, minilm, voyage or a model of Voyage, not {name!r}")
    if name in _LOCAL:
        return _LOCAL[name]()
    return VoyageEmbedder() if name == "voyage" else VoyageEmbedder(name)


def is_known(name: str) -> bool:
    """Whether there is an embedder of this name."""
    return name in _LOCAL or name == "voyage" or name.startswith("voyage-")


async def embedder_for(store: GraphStore) -> Embedder:
    """The embedder that GRAPHSEARCH_EMBEDDER names, else that of the scope's vectors, if known, else the default."""
    bound = None if os.environ.get(EMBEDDER) else await (await or_empty(store)).embedder_name()
    return choose_embedder() if bound is None or not is_known(bound) else embedder_called(bound)
