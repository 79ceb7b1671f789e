"""eval: measure how well evidence is found for the questions of a question set."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from graphsearch._support.timing import SystemClock
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Server, embedder_called, open_scopes
from graphsearch.cli.options import refuse
from graphsearch.cli.showing import aligned
from graphsearch.evaluation import (
    AnswerSet,
    Channels,
    Comparison,
    EntitySet,
    Evaluation,
    Level,
    TripletSet,
    evaluate,
    evaluate_answers,
    evaluate_entities,
    evaluate_triplets,
    read_graph,
    read_names,
    read_question_set,
)
from graphsearch.evaluation.comparing import KS
from graphsearch.evaluation.question_set import read_passages, read_questions
from graphsearch.evaluation.ranks import BUDGET
from graphsearch.model.codec import Says, decode
from graphsearch.ranking.recall_result import CHANNELS
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock

Gold = Literal["passages", "triplets", "entities", "answers"]
_FILES: Final = {
    "passages": ({"corpus"}, {"corpus", "triples"}),
    "triplets": ({"graph"},),
    "entities": ({"graph"}, {"code"}),
    "answers": ({"corpus"}, {"corpus", "names"}),
}
"""The files that go with each kind of gold."""
_FEW: Final = 3
"""The most methods whose intervals fit side by side."""


async def eval_(
    *,
    server: Server,
    questions: Annotated[tuple[Path, ...], Says("The questions with their gold, as JSON lines; may be repeated.")],
    gold: Annotated[Gold, Says("What questions name as their gold.")] = "passages",
    corpus: Annotated[Path | None, Says("The passages or the conversation, as JSON lines.")] = None,
    triples: Annotated[Path | None, Says("Triples extracted from the passages, as JSON lines.")] = None,
    graph: Annotated[tuple[Path, Path] | None, Says("A graph, as JSON lines: entities, then relations.")] = None,
    code: Annotated[tuple[Path, ...], Says("A folder or file of Python; may be repeated.")] = (),
    names: Annotated[Path | None, Says("Aliases of the gold names, as JSON lines.")] = None,
    now: Annotated[datetime | None, Says("The date of the questions; default: today.")] = None,
    group_by: Annotated[str | None, Says("A field: each question is answered within its group.")] = None,
    channels: Annotated[str, Says("Recall by these, between commas; default: all.")] = "",
    compare: Annotated[tuple[str, ...], Says("Recall by these as well; may be repeated.")] = (),
    k: Annotated[str, Says("Ranks for R@k and All@k, between commas.")] = ",".join(map(str, KS)),
    alone: Annotated[bool, Says("Also measure each channel alone, plain BM25, and the regret.")] = True,
    level: Annotated[Level, Says("The unit to find: passages, or their sessions.")] = Level.PASSAGE,
    embedder: Annotated[str, Says("The embedder: wordllama, minilm, voyage, or none.")] = "wordllama",
    store: Annotated[Literal["memory", "postgres"], Says("In memory, or in --dsn or --embedded.")] = "memory",
    min_relevance: Annotated[float | None, Says("Return nothing less relevant than this.", 0, 1)] = None,
    budget: Annotated[int, Says("The token budget of the context block; 0 builds none.", 0)] = BUDGET,
) -> Answer:
    """Measure how well relevant evidence is found, in a fresh scope that is removed at the end."""
    files = {"corpus": corpus, "triples": triples, "graph": graph, "code": code, "names": names}
    needed = " or ".join(" with ".join(f"--{name}" for name in sorted(each)) for each in _FILES[gold])
    refuse({name for name in files if files[name]} not in _FILES[gold], f"--gold {gold} needs {needed}")
    path, pair = cast("Path", corpus), cast("tuple[Path, Path]", graph)  # where they are needed, they are there
    model = None if embedder == "none" else embedder_called(embedder)
    match gold:
        case "passages":
            named = [*filter(None, [channels]), *compare]
            sets: Sequence[Channels] = [_read(Channels, each, "--channels") for each in named] or [
                CHANNELS,
                *((each,) for each in CHANNELS if alone and (model or each != "semantic")),
            ]
            evaluation = Evaluation(
                embedder=model,
                channel_sets=tuple(dict.fromkeys(tuple(c for c in CHANNELS if c in each) for each in sets)),
                group_by=group_by,
                level=level,
                ks=_read(tuple[Annotated[int, Says("", 1)], ...], k, "--k"),
                min_relevance=min_relevance,
                budget=budget or None,
                baseline=alone and not named,
            )
            measure: Callable[..., Awaitable[Comparison]] = partial(
                evaluate, read_question_set(path, questions, triples), evaluation=evaluation
            )
        case "triplets":
            given = TripletSet(graph=read_graph(*pair), questions=read_questions(questions, gold))
            measure = partial(evaluate_triplets, given, embedder=model)
        case "entities":
            asked = read_questions(questions, gold)
            made = EntitySet.of_graph(read_graph(*pair), asked) if graph else EntitySet.of_code(code, asked)
            measure = partial(evaluate_entities, made, embedder=model)
        case "answers":
            rows, aliases = read_questions(questions, gold), read_names(names) if names else {}
            answers = AnswerSet(passages=read_passages(path), questions=rows, names=aliases)
            measure = partial(evaluate_answers, answers, embedder=model, budget=budget)
    clock = FixedClock(now) if now else SystemClock()
    opened: AbstractAsyncContextManager[Any] = nullcontext(InMemoryGraphStore(clock=clock))
    if store == "postgres":
        opened = open_scopes(server, clock=clock)
    with progress_bar() as progress:
        async with opened as scopes:
            found = await measure(scopes, progress=progress)
    return Answer(found.as_dict(), [*_shown(found)])


def _read(kind: Any, text: str, option: str) -> Any:
    """Values between commas."""
    return decode(kind, [each.strip() for each in text.split(",")], option, lenient=True)


def _shown(found: Comparison) -> Iterator[str]:
    """A row per metric with the regret, a column per method, with intervals if they fit; the default by kind; costs."""
    regret, default, others = found.regret(), found.default, found.columns[1:]
    rows = [
        ["", "default" if regret else default.name, *(each.name for each in others), *(["regret"] if regret else [])]
    ]
    for metric in default.metrics:
        means = [f"{each.metrics[metric]:.3f}" for each in found.columns]
        for place, each in enumerate(found.columns if len(means) <= _FEW else [default]):
            low, high = each.intervals[metric]
            means[place] += f"  [{low:.3f}, {high:.3f}]"
        rows.append([metric, *means, *([f"{regret[metric].points:+.1f}"] if metric in regret else [])])
    rows += [[f"{of[:3]} ms", *(f"{getattr(each, of):.1f}" for each in found.columns)] for of in ("p50_ms", "p95_ms")]
    yield from aligned([[*each, *[""] * (len(rows[0]) - len(each))] for each in rows])
    if len(found.kinds) > 1:
        yield from ("", f"by kind, {default.name}")
        kinds = [
            [
                f"{kind or '(none)'} ({found.kinds[kind]})",
                *(f"{means[n]:.3f}" if n in means else "-" for n in default.metrics),
            ]
            for kind, means in default.by_kind.items()
        ]
        yield from aligned([["", *default.metrics], *kinds])
    yield ""
    yield (
        f"{sum(found.kinds.values())} questions, {found.unanswerable} without an answer; "
        f"indexed in {found.index_s:.1f} s, peak {found.rss_mb:.0f} MB"
    )
