"""eval: measure how well evidence is found for the questions of a question set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

import typer
from rich.table import Table

from graphsearch._support.timing import SystemClock
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, open_scopes
from graphsearch.cli.gold_files import Files, Gold, compared
from graphsearch.cli.output import table
from graphsearch.embedders import MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
from graphsearch.evaluation import Channels, Column, Comparison, Evaluation, Level, Stores, read_question_set
from graphsearch.evaluation import evaluate as evaluated
from graphsearch.evaluation.comparing import KS
from graphsearch.evaluation.ranks import BUDGET
from graphsearch.protocols import Clock, Embedder
from graphsearch.recall.options import CHANNELS
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock


class EmbedderName(StrEnum):
    """The embedder to evaluate with."""

    WORDLLAMA = "wordllama"
    MINILM = "minilm"
    VOYAGE = "voyage"
    NONE = "none"


class StoreName(StrEnum):
    """The store that holds the passages during the evaluation."""

    MEMORY = "memory"
    POSTGRES = "postgres"


_EMBEDDERS: Final[Mapping[EmbedderName, Callable[[], Embedder]]] = MappingProxyType(
    {
        EmbedderName.WORDLLAMA: WordLlamaEmbedder,
        EmbedderName.MINILM: MiniLMEmbedder,
        EmbedderName.VOYAGE: VoyageEmbedder,
    }
)


_FEW: Final = 3
"""Maximum number of rankers whose intervals fit side by side."""


def _channels(text: str) -> Channels:
    """Parse names separated by commas."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    known: Channels = tuple(name for name in CHANNELS if name in names)
    if len(known) < len(names):
        raise typer.BadParameter(f"channels are some of {', '.join(CHANNELS)}, between commas, not {text!r}")
    return known


def _ranks(text: str) -> tuple[int, ...]:
    """Parse positive integers separated by commas."""
    try:
        ranks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError as error:
        raise typer.BadParameter(f"--k must be ranks between commas, such as 2,5,10, not {text!r}") from error
    if min(ranks) < 1:
        raise typer.BadParameter(f"--k must be ranks from 1, not {text!r}")
    return ranks


async def evaluate(
    place: Place,
    questions: Annotated[
        list[Path], typer.Option(help="The questions with their gold, as JSON lines; may be repeated.")
    ],
    corpus: Annotated[Path | None, typer.Option(help="The passages, as JSON lines.")] = None,
    triples: Annotated[Path | None, typer.Option(help="Triples extracted from the passages, as JSON lines.")] = None,
    gold: Annotated[Gold | None, typer.Option(help="The kind of gold, if not passages.")] = None,
    graph: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="ENTITIES RELATIONS", help="A graph, as JSON lines.")
    ] = None,
    code: Annotated[list[Path] | None, typer.Option(help="A folder or file of Python; may be repeated.")] = None,
    names: Annotated[Path | None, typer.Option(help="Aliases of the gold names, as JSON lines.")] = None,
    now: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="The date of the questions; default: today."),
    ] = None,
    group_by: Annotated[str | None, typer.Option(help="A field: each question is answered within its group.")] = None,
    channels: Annotated[str, typer.Option(metavar="NAME,…", help="Recall by these; default: all.")] = "",
    compare: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…", help="Recall by these as well; may be repeated.")
    ] = None,
    k: Annotated[str, typer.Option(metavar="K,…", help="Ranks for R@k and All@k.")] = ",".join(map(str, KS)),
    alone: Annotated[
        bool, typer.Option("--alone/--no-alone", help="Also measure each channel alone, plain BM25, and the regret.")
    ] = True,
    level: Annotated[Level, typer.Option(help="The unit to find: passages, or their sessions.")] = Level.PASSAGE,
    embedder: Annotated[EmbedderName, typer.Option(help="The embedder.")] = EmbedderName.WORDLLAMA,
    store: Annotated[StoreName, typer.Option(help="In memory, or in the Postgres of --dsn or --embedded.")] = (
        StoreName.MEMORY
    ),
    min_relevance: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Return nothing less relevant than this.")
    ] = None,
    budget: Annotated[int, typer.Option(min=0, help="The token budget of the context block; 0 builds none.")] = BUDGET,
) -> Answer:
    """Measure how well relevant evidence is found, in a fresh scope that is removed at the end."""
    make = _EMBEDDERS.get(embedder)
    embedding, clock = make() if make else None, FixedClock(now.replace(tzinfo=UTC)) if now else SystemClock()
    files = Files(questions=tuple(questions), graph=graph, code=tuple(code or ()), corpus=corpus, names=names)
    named = [*([channels] if channels else []), *(compare or ())]
    sets = dict.fromkeys(map(_channels, named)) or dict.fromkeys(_with_each_alone(embedding, alone=alone))
    evaluation = Evaluation(
        embedder=embedding,
        channel_sets=tuple(sets),
        group_by=group_by,
        level=level,
        ks=_ranks(k),
        min_relevance=min_relevance,
        budget=budget or None,
        baseline=alone and not named,
    )
    measured = (
        partial(compared, gold, files, embedder=embedding, budget=budget)
        if gold is not None
        else partial(evaluated, read_question_set(files.passages, questions, triples), evaluation=evaluation)
    )
    with progress_bar() as progress:
        async with _scopes(store, place, clock) as scopes:
            found = await measured(scopes, progress=progress)
    return Answer(found.as_dict(), (*_tables(found),))


def _with_each_alone(embedder: Embedder | None, *, alone: bool) -> Iterator[Channels]:
    """All channels together, then each channel that finds candidates by itself."""
    yield CHANNELS
    if alone:
        for name in CHANNELS:
            if name != "semantic" or embedder is not None:
                yield (name,)


@asynccontextmanager
async def _scopes(store: StoreName, place: Place, clock: Clock) -> AsyncIterator[Stores]:
    if store is StoreName.MEMORY:
        yield InMemoryGraphStore(clock=clock)
        return
    place.needs_server()
    async with open_scopes(place, clock=clock) as scopes:
        yield scopes


# -- for people ---------------------------------------------------------------------------------------------------


def _tables(found: Comparison) -> Iterator[str | Table]:
    """A row per metric with the regret, a column per method, with intervals if they fit; the default by kind; costs."""
    few, regret, default = len(found.columns) <= _FEW, found.regret(), found.default
    rows = [
        (
            metric,
            _with_interval(default, metric),
            *(_with_interval(each, metric) if few else f"{each.metrics[metric]:.3f}" for each in found.columns[1:]),
            *([f"{regret[metric].points:+.1f}" if metric in regret else ""] if regret else ()),
        )
        for metric in default.metrics
    ]
    rows += [(f"{field[:3]} ms", *(f"{getattr(each, field):.1f}" for each in found.columns)) for field in _TIMES]
    names = ["default" if regret else default.name, *(each.name for each in found.columns[1:])]
    yield table("", *names, *(["regret"] if regret else ()), rows=rows)
    if len(found.kinds) > 1:
        yield f"\nby kind, {default.name}"
        kinds = ((f"{kind or '(none)'} ({found.kinds[kind]})", means) for kind, means in default.by_kind.items())
        yield table(
            "",
            *default.metrics,
            rows=[
                (kind, *(f"{means[n]:.3f}" if n in means else "-" for n in default.metrics)) for kind, means in kinds
            ],
        )
    left = f"; {found.left_out} with no gold were left out" if found.left_out else ""
    yield (
        f"\n{sum(found.kinds.values())} questions, {found.unanswerable} without an answer{left}; "
        f"indexed in {found.index_s:.1f} s, peak {found.rss_mb:.0f} MB"
    )


_TIMES: Final = ("p50_ms", "p95_ms")


def _with_interval(column: Column, metric: str) -> str:
    low, high = column.intervals[metric]
    return f"{column.metrics[metric]:.3f}  [{low:.3f}, {high:.3f}]"
