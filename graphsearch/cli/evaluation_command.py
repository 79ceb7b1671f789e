"""eval: measure how well evidence is found for the questions of a question set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from graphsearch._support.timing import SystemClock
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, open_scopes
from graphsearch.cli.gold_files import Files, Gold, compared, comparison_tables
from graphsearch.cli.output import table
from graphsearch.embedders import MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
from graphsearch.evaluation import Channels, Evaluated, Evaluation, Level, Stores, read_question_set
from graphsearch.evaluation import evaluate as evaluated
from graphsearch.evaluation.comparing import KS, Measured
from graphsearch.evaluation.evaluator import regret_of
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
    if gold is not None:
        return await _of_gold(gold, files, embedding, budget, place, store, clock)
    named = [*([channels] if channels else []), *(compare or ())]
    sets = dict.fromkeys(map(_channels, named)) or dict.fromkeys(_with_each_alone(embedding, alone=alone))
    given = read_question_set(files.passages, questions, triples)
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
    with progress_bar() as progress:
        async with _scopes(store, place, clock) as scopes:
            found = await evaluated(given, scopes, evaluation, progress=progress)
    if named:
        data = {each.name: each.as_dict() for each in found} if compare else found[0].as_dict()
        return Answer(data, (_metrics(found), *_types(found), _asked(found)))
    return Answer(_with_regret(found), (_metrics(found), *_types(found[:1]), _asked(found)))


def _with_each_alone(embedder: Embedder | None, *, alone: bool) -> Iterator[Channels]:
    """All channels together, then each channel that finds candidates by itself."""
    yield CHANNELS
    if alone:
        for name in CHANNELS:
            if name != "semantic" or embedder is not None:
                yield (name,)


def _with_regret(found: Sequence[Evaluated]) -> dict[str, Any]:
    """The first evaluation as JSON, with its regret against the best of the others, and the others."""
    if not (regret := regret_of(found)):
        return found[0].as_dict()
    return {
        **found[0].as_dict(),
        "regret": {metric: each.points for metric, each in regret.items()},
        "best": {metric: each.best for metric, each in regret.items()},
        "others": {each.name: each.as_dict() for each in found[1:]},
    }


async def _of_gold(
    gold: Gold, files: Files, embedder: Embedder | None, budget: int, place: Place, store: StoreName, clock: Clock
) -> Answer:
    with progress_bar() as progress:
        async with _scopes(store, place, clock) as scopes:
            found = await compared(gold, files, scopes, embedder, budget, progress)
    return Answer(found.as_dict(), (*comparison_tables(found),))


@asynccontextmanager
async def _scopes(store: StoreName, place: Place, clock: Clock) -> AsyncIterator[Stores]:
    if store is StoreName.MEMORY:
        yield InMemoryGraphStore(clock=clock)
        return
    place.needs_server()
    async with open_scopes(place, clock=clock) as scopes:
        yield scopes


# -- for people ---------------------------------------------------------------------------------------------------


def _metrics(found: Sequence[Evaluated]) -> Table:
    """A row per metric, with intervals if they fit and with the regret, then the cost; a column per ranker."""
    first, few, regret = found[0].measured, len(found) <= _FEW, regret_of(found)
    rows: list[tuple[str, ...]] = []
    for name in first.metrics:
        others = [each.measured for each in found[1:]]
        others_shown = [_with_interval(each, name) if few else f"{each.metrics[name]:.3f}" for each in others]
        lacks = [f"{regret[name].points:+.1f}" if name in regret else ""] if regret else []
        rows.append((name, _with_interval(first, name), *others_shown, *lacks))
    rows.append(("silent", *("-" if each.silent is None else f"{each.silent:.3f}" for each in found)))
    rows += [
        (name, *(f"{getattr(each.costs, field):.1f}" for each in found))
        for name, field in (("index s", "index_s"), ("p50 ms", "p50_ms"), ("p95 ms", "p95_ms"), ("peak MB", "rss_mb"))
    ]
    names = ["default" if regret and each.channels == CHANNELS else each.name for each in found]
    return table("", *names, *(["regret"] if regret else []), rows=rows)


def _types(found: Sequence[Evaluated]) -> Iterator[str | Table]:
    """For each set of channels, a row per question type."""
    for each in found:
        names = [*each.measured.metrics]
        rows = [
            (type_, *(f"{means[name]:.3f}" if name in means else "-" for name in names))
            for type_, means in each.measured.by_type.items()
        ]
        if rows:
            yield f"\nby type, {each.name}"
            yield table("", *names, rows=rows)


def _with_interval(measured: Measured, name: str) -> str:
    low, high = measured.intervals[name]
    return f"{measured.metrics[name]:.3f}  [{low:.3f}, {high:.3f}]"


def _asked(found: Sequence[Evaluated]) -> str:
    measured = found[0].measured
    left = f"; {measured.unanswerable} without evidence were left out" if measured.unanswerable else ""
    return f"\n{measured.questions} questions{left}"
