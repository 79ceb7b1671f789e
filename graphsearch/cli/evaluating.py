"""eval: how well evidence is found, on a question set of one's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

import typer
from rich.table import Table

from graphsearch.cli.commands import Answer
from graphsearch.cli.place import Place, open_scopes
from graphsearch.cli.progress import progress_bar
from graphsearch.cli.shapes import table
from graphsearch.embedders import MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
from graphsearch.evaluation import Channels, Evaluated, Evaluation, Level, Stores, read_question_set
from graphsearch.evaluation import evaluate as evaluated
from graphsearch.evaluation.measuring import KS
from graphsearch.protocols import Embedder
from graphsearch.recall.request import CHANNELS
from graphsearch.stores.memory import InMemoryGraphStore


class EmbedderName(StrEnum):
    """What to embed with."""

    WORDLLAMA = "wordllama"
    MINILM = "minilm"
    VOYAGE = "voyage"
    NONE = "none"


class StoreName(StrEnum):
    """Where the passages are kept while they are asked about."""

    MEMORY = "memory"
    POSTGRES = "postgres"


_EMBEDDERS: Final[Mapping[EmbedderName, Callable[[], Embedder]]] = MappingProxyType(
    {
        EmbedderName.WORDLLAMA: WordLlamaEmbedder,
        EmbedderName.MINILM: MiniLMEmbedder,
        EmbedderName.VOYAGE: VoyageEmbedder,
    }
)


def _channels(text: str) -> Channels:
    """Names between commas."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    known: Channels = tuple(name for name in CHANNELS if name in names)
    if len(known) < len(names):
        raise typer.BadParameter(f"channels are some of {', '.join(CHANNELS)}, between commas, not {text!r}")
    return known


def _ranks(text: str) -> tuple[int, ...]:
    """Whole numbers from 1 between commas."""
    try:
        ranks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError as error:
        raise typer.BadParameter(f"--k must be ranks between commas, such as 2,5,10, not {text!r}") from error
    if min(ranks) < 1:
        raise typer.BadParameter(f"--k must be ranks from 1, not {text!r}")
    return ranks


async def evaluate(
    place: Place,
    corpus: Annotated[Path, typer.Option(help="The passages, as JSON lines.")],
    questions: Annotated[Path, typer.Option(help="The questions and the ids of their evidence, as JSON lines.")],
    triples: Annotated[Path | None, typer.Option(help="What an extractor read out of passages, as JSON lines.")] = None,
    group_by: Annotated[str | None, typer.Option(help="A field: each question is asked within its group.")] = None,
    channels: Annotated[str, typer.Option(metavar="NAME,…", help="Recall by these; all unless given.")] = "",
    compare: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…", help="Recall by these as well; may be repeated.")
    ] = None,
    k: Annotated[str, typer.Option(metavar="K,…", help="Ranks for R@k and All@k.")] = ",".join(map(str, KS)),
    level: Annotated[Level, typer.Option(help="What is to be found: passages, or their sessions.")] = Level.PASSAGE,
    embedder: Annotated[EmbedderName, typer.Option(help="What to embed with.")] = EmbedderName.WORDLLAMA,
    store: Annotated[StoreName, typer.Option(help="In memory, or in the Postgres of --dsn or --embedded.")] = (
        StoreName.MEMORY
    ),
    min_relevance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Answer nothing to what is less relevant than this.")
    ] = 0.0,
    budget: Annotated[int | None, typer.Option(min=1, help="Also measure the context block of so many tokens.")] = None,
) -> Answer:
    """Measure how well the evidence for questions is found, in a fresh scope that is removed at the end."""
    named = [*([channels] if channels else []), *(compare or ())]
    sets = dict.fromkeys(map(_channels, named)) or {CHANNELS: None}
    given = read_question_set(corpus, questions, triples)
    make = _EMBEDDERS.get(embedder)
    evaluation = Evaluation(
        embedder=make() if make else None,
        channel_sets=tuple(sets),
        group_by=group_by,
        level=level,
        ks=_ranks(k),
        min_relevance=min_relevance,
        budget=budget,
    )
    with progress_bar() as progress:
        async with _scopes(store, place) as scopes:
            found = await evaluated(given, scopes, evaluation, progress=progress)
    data = {_named(each): each.as_dict() for each in found} if compare else found[0].as_dict()
    return Answer(data, (_metrics(found), *_types(found), _asked(found), *_silent(found)))


@asynccontextmanager
async def _scopes(store: StoreName, place: Place) -> AsyncIterator[Stores]:
    if store is StoreName.MEMORY:
        yield InMemoryGraphStore()
        return
    place.needs_server()
    async with open_scopes(place) as scopes:
        yield scopes


# -- for people ---------------------------------------------------------------------------------------------------


def _metrics(found: Sequence[Evaluated]) -> Table:
    """A row a metric with its interval, then what it took; a column a set of channels."""
    measured = [each.measured for each in found]
    rows: list[tuple[str, ...]] = [
        (name, *(_with_interval(each.metrics[name], each.intervals[name]) for each in measured))
        for name in measured[0].metrics
    ]
    rows += [
        (name, *(f"{getattr(each.costs, field):.1f}" for each in found))
        for name, field in (("index s", "index_s"), ("p50 ms", "p50_ms"), ("p95 ms", "p95_ms"), ("peak MB", "rss_mb"))
    ]
    return table("", *map(_named, found), rows=rows)


def _types(found: Sequence[Evaluated]) -> Iterator[str | Table]:
    """For each set of channels, a row a type of questions."""
    for each in found:
        means = each.measured.by_type
        rows = [(type_, *(f"{value:.3f}" for value in of_type.values())) for type_, of_type in means.items()]
        if rows:
            yield f"\nby type, {_named(each)}"
            yield table("", *each.measured.metrics, rows=rows)


def _named(each: Evaluated) -> str:
    return ",".join(each.channels)


def _with_interval(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.3f}  [{interval[0]:.3f}, {interval[1]:.3f}]"


def _asked(found: Sequence[Evaluated]) -> str:
    measured = found[0].measured
    left = f"; {measured.unanswerable} without evidence were left out" if measured.unanswerable else ""
    return f"\n{measured.questions} questions{left}"


def _silent(found: Sequence[Evaluated]) -> Iterator[str]:
    for each in found:
        if each.silent is not None:
            yield f"{100 * each.silent:.0f} % of those without evidence got no answer by {_named(each)}"
