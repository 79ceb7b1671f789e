"""eval: measure how well evidence is found for the questions of a question set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import click

from graphsearch._support.timing import SystemClock
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Server, open_scopes
from graphsearch.cli.showing import aligned
from graphsearch.embedders import MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
from graphsearch.evaluation import (
    AnswerSet,
    Channels,
    Column,
    Comparison,
    EntitySet,
    Evaluation,
    Level,
    TripletSet,
    evaluate_answers,
    evaluate_entities,
    evaluate_triplets,
    read_graph,
    read_names,
    read_question_set,
)
from graphsearch.evaluation import evaluate as evaluated
from graphsearch.evaluation.comparing import KS
from graphsearch.evaluation.question_set import (
    entity_question,
    name_question,
    read_passages,
    read_rows,
    triplet_question,
)
from graphsearch.evaluation.ranks import BUDGET
from graphsearch.model.codec import Says, encode
from graphsearch.protocols import Embedder
from graphsearch.recall.options import CHANNELS
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock

_EMBEDDERS: Final[Mapping[str, Callable[[], Embedder | None]]] = MappingProxyType(
    {"wordllama": WordLlamaEmbedder, "minilm": MiniLMEmbedder, "voyage": VoyageEmbedder, "none": lambda: None}
)
_FEW: Final = 3
"""Maximum number of rankers whose intervals fit side by side."""


async def evaluate(
    *,
    questions: Annotated[tuple[Path, ...], Says("The questions with their gold, as JSON lines.")],
    corpus: Annotated[Path | None, Says("The passages, as JSON lines.")] = None,
    triples: Annotated[Path | None, Says("Triples extracted from the passages, as JSON lines.")] = None,
    gold: Annotated[
        str, Says("The kind of gold, if not passages.", of=("triplets", "entities", "answers"))
    ] = "",
    graph: Annotated[
        tuple[Path, Path] | None, Says("A graph, as JSON lines."), {"metavar": "ENTITIES RELATIONS"}
    ] = None,
    code: Annotated[tuple[Path, ...], Says("A folder or file of Python.")] = (),
    names: Annotated[Path | None, Says("Aliases of the gold names, as JSON lines.")] = None,
    now: Annotated[
        datetime | None, Says("The date of the questions; default: today."), {"metavar": "DATE"}
    ] = None,
    group_by: Annotated[str | None, Says("A field: each question is answered within its group.")] = None,
    channels: Annotated[str, Says("Recall by these; default: all."), {"metavar": "NAME,…"}] = "",
    compare: Annotated[tuple[str, ...], Says("Recall by these as well."), {"metavar": "NAME,…"}] = (),
    k: Annotated[str, Says("Ranks for R@k and All@k."), {"metavar": "K,…"}] = ",".join(map(str, KS)),
    alone: Annotated[bool, Says("Also measure each channel alone, plain BM25, and the regret.")] = True,
    level: Annotated[Level, Says("The unit to find: passages, or their sessions.")] = Level.PASSAGE,
    embedder: Annotated[str, Says("The embedder.", of=tuple(_EMBEDDERS))] = "wordllama",
    store: Annotated[
        str, Says("In memory, or in the Postgres of --dsn or --embedded.", of=("memory", "postgres"))
    ] = "memory",
    min_relevance: Annotated[float | None, Says("Return nothing less relevant than this.", 0, 1)] = None,
    budget: Annotated[int, Says("The token budget of the context block; 0 builds none.", 0)] = BUDGET,
    server: Server,
) -> Answer:
    """Measure how well evidence is found."""
    embedding, clock = _EMBEDDERS[embedder](), FixedClock(now) if now else SystemClock()
    named = [*([channels] if channels else []), *compare]
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
    measured: Callable[..., Any]
    match gold:
        case "triplets":
            _refuse(graph is None, "--gold triplets needs --graph ENTITIES RELATIONS")
            measured = partial(evaluate_triplets, _triplets(questions, graph), embedder=embedding)
        case "entities":
            _refuse(
                (graph is None) != bool(code), "--gold entities needs either --code FOLDER or --graph ENTITIES RELATIONS"
            )
            asked = read_rows(questions, entity_question)
            held = EntitySet.of_graph(read_graph(*graph), asked) if graph else EntitySet.of_code(code, asked)
            measured = partial(evaluate_entities, held, embedder=embedding)
        case "answers":
            _refuse(corpus is None, "--gold answers needs --corpus, the conversations")
            measured = partial(
                evaluate_answers, _answers(questions, corpus, names), embedder=embedding, budget=budget
            )
        case _:
            _refuse(
                graph is not None or bool(code) or names is not None,
                "--graph, --code and --names go with --gold triplets|entities|answers",
            )
            _refuse(corpus is None, "give --corpus, or name the kind of gold with --gold")
            measured = partial(evaluated, read_question_set(corpus, questions, triples), evaluation=evaluation)
    with progress_bar() as progress:
        if store == "memory":
            found = await measured(InMemoryGraphStore(clock=clock), progress=progress)
        else:
            async with open_scopes(server, clock=clock) as scopes:
                found = await measured(scopes, progress=progress)
    return Answer(found.as_dict() if hasattr(found, "as_dict") else encode(found), [*_tables(found)])


def _refuse(fault: bool, message: str) -> None:
    if fault:
        raise click.UsageError(message)


def _triplets(questions: Sequence[Path], graph: Any) -> TripletSet:
    read = read_rows(questions, triplet_question)
    known = tuple(each for each in read if each is not None)
    return TripletSet(graph=read_graph(*graph), questions=known, left_out=len(read) - len(known))


def _answers(questions: Sequence[Path], corpus: Any, names: Path | None) -> AnswerSet:
    return AnswerSet(
        passages=read_passages(corpus),
        questions=read_rows(questions, name_question),
        names=read_names(names) if names else {},
    )


def _channels(text: str) -> Channels:
    """Parse names separated by commas."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    known: Channels = tuple(name for name in CHANNELS if name in names)
    _refuse(
        len(known) < len(names), f"channels are some of {', '.join(CHANNELS)}, between commas, not {text!r}"
    )
    return known


def _ranks(text: str) -> tuple[int, ...]:
    """Parse positive integers separated by commas."""
    parts = text.split(",")
    ranks = tuple(dict.fromkeys(int(part) for part in parts if part.strip().isdecimal()))
    _refuse(not all(part.strip().isdecimal() for part in parts) or min(ranks) < 1, f"--k must be ranks from 1, such as 2,5,10, not {text!r}")
    return ranks


def _with_each_alone(embedder: Embedder | None, *, alone: bool) -> Iterator[Channels]:
    """All channels together, then each channel that finds candidates by itself."""
    yield CHANNELS
    if alone:
        yield from ((name,) for name in CHANNELS if name != "semantic" or embedder is not None)


# -- for people ---------------------------------------------------------------------------------------------------


def _tables(found: Comparison) -> Iterator[str]:
    """A row per metric with the regret, a column per method, with intervals if they fit; the default by kind; costs."""
    few, regret, default = len(found.columns) <= _FEW, found.regret(), found.default
    others = found.columns[1:]
    rows = [["", "default" if regret else default.name, *(each.name for each in others), *(["regret"] if regret else ())]]
    for metric in default.metrics:
        told = (_with_interval(each, metric) if few else f"{each.metrics[metric]:.3f}" for each in others)
        lost = [f"{regret[metric].points:+.1f}" if metric in regret else ""] if regret else ()
        rows.append([metric, _with_interval(default, metric), *told, *lost])
    for field in ("p50_ms", "p95_ms"):
        times = (f"{getattr(each, field):.1f}" for each in found.columns)
        rows.append([f"{field[:3]} ms", *times, *([""] if regret else ())])
    yield from aligned(rows)
    if len(found.kinds) > 1:
        yield f"\nby kind, {default.name}"
        kinds = [["", *default.metrics]]
        for kind, means in default.by_kind.items():
            told = (f"{means[name]:.3f}" if name in means else "-" for name in default.metrics)
            kinds.append([f"{kind or '(none)'} ({found.kinds[kind]})", *told])
        yield from aligned(kinds)
    left = f"; {found.left_out} with no gold were left out" if found.left_out else ""
    yield (
        f"\n{sum(found.kinds.values())} questions, {found.unanswerable} without an answer{left}; "
        f"indexed in {found.index_s:.1f} s, peak {found.rss_mb:.0f} MB"
    )


def _with_interval(column: Column, metric: str) -> str:
    low, high = column.intervals[metric]
    return f"{column.metrics[metric]:.3f}  [{low:.3f}, {high:.3f}]"
