"""Where a command reads and writes: the only module that opens stores and chooses an embedder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import attrs
import typer

from graphsearch.embedders import VoyageEmbedder, WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.llms import llm_called
from graphsearch.modes.options import SearchMode
from graphsearch.modes.registry import DEFAULT_MODES, mode_name
from graphsearch.protocols import LLM, Clock, Embedder, GraphStore
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore

_BY_NAME: Final = (SearchMode.NEIGHBORHOOD, SearchMode.NATURAL_LANGUAGE)
"""These start from names, and need no embedder."""


@attrs.frozen(kw_only=True)
class Place:
    """What the options say of where to work."""

    org: str = ""
    project: str = ""
    dsn: str = ""
    embedded: Path | None = None

    def needs_server(self) -> None:
        """Raise `typer.BadParameter` unless just one server is named."""
        if bool(self.dsn) == bool(self.embedded):
            raise typer.BadParameter(
                "give either --dsn (or GRAPHSEARCH_DSN) or --embedded (or GRAPHSEARCH_EMBEDDED), and not both"
            )


@asynccontextmanager
async def open_scopes(place: Place, *, clock: Clock | None = None) -> AsyncIterator[PostgresGraphStore]:
    """The scopes of the server that a place names; an embedded server runs for as long as they are open.

    ``clock`` tells the present; the machine's unless given.
    """
    async with AsyncExitStack() as stack:
        dsn = place.dsn
        if place.embedded is not None:
            dsn = (await stack.enter_async_context(EmbeddedPostgres(place.embedded))).dsn
        yield await stack.enter_async_context(PostgresGraphStore.open(dsn, clock=clock))


@asynccontextmanager
async def open_store(place: Place) -> AsyncIterator[GraphStore]:
    """The scope of a place."""
    async with open_scopes(place) as scopes:
        yield scopes.with_scope(org_id=place.org, project_id=place.project)


@asynccontextmanager
async def open_engine(place: Place, *, embed: bool = False, llm: LLM | None = None) -> AsyncIterator[GraphSearchEngine]:
    """An engine over `open_store`, with an embedder only if it is to ``embed``."""
    embedder = choose_embedder() if embed else None
    async with open_store(place) as store:
        yield GraphSearchEngine(store=store, embedder=embedder, llm=llm)


@asynccontextmanager
async def open_for(place: Place, mode: str, *, llm: str = "", llm_url: str = "") -> AsyncIterator[GraphSearchEngine]:
    """An engine with the parts that a search mode uses, and no others.

    Raises `typer.BadParameter` where the mode asks a language model and none is named, and `UnknownModeError`.
    """
    wanted = mode_name(mode, DEFAULT_MODES)
    if "llm" not in DEFAULT_MODES[wanted].needs:
        llm = llm_url = ""
    elif not llm:
        raise typer.BadParameter(f"--mode {wanted} needs --llm (or GRAPHSEARCH_LLM)")
    async with open_engine(place, embed=wanted not in _BY_NAME, llm=choose_llm(llm, llm_url)) as engine:
        yield engine


def choose_llm(name: str, url: str) -> LLM | None:
    """The language model that the options name, if they do. Raises `typer.BadParameter` for a URL without a model."""
    if url and not name:
        raise typer.BadParameter("--llm-url (or GRAPHSEARCH_LLM_URL) comes with --llm (or GRAPHSEARCH_LLM)")
    return llm_called(name, base_url=url or None) if name else None


def choose_embedder() -> Embedder:
    """Voyage where VOYAGE_API_KEY is set, else the local WordLlama."""
    return VoyageEmbedder() if os.environ.get("VOYAGE_API_KEY") else WordLlamaEmbedder()
