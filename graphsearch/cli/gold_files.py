"""eval --gold: evaluation of triplets, entities and answers, the files of each, and the tables of the comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import attrs
import typer
from rich.table import Table

from graphsearch.cli.output import table
from graphsearch.evaluation.comparing import Column, Comparison
from graphsearch.evaluation.corpus import Stores
from graphsearch.evaluation.gold import entity_question, name_question, read_graph, triplet_question
from graphsearch.evaluation.graph_scores import (
    AnswerSet,
    EntitySet,
    TripletSet,
    evaluate_answers,
    evaluate_entities,
    evaluate_triplets,
    read_names,
)
from graphsearch.evaluation.question_set import read_passages, read_rows
from graphsearch.ingest import Progress
from graphsearch.protocols import Embedder


class Gold(StrEnum):
    """The kind of elements that questions name as their gold."""

    TRIPLETS = "triplets"
    ENTITIES = "entities"
    ANSWERS = "answers"


@attrs.frozen(kw_only=True)
class Files:
    """The files named by the options; the gold determines which of them are required."""

    questions: tuple[Path, ...]
    graph: tuple[Path, Path] | None
    code: tuple[Path, ...]
    corpus: Path | None
    names: Path | None

    @property
    def passages(self) -> Path:
        """The corpus file. Raises `typer.BadParameter` if it is missing, or given with files that only a gold uses."""
        if self.graph is not None or self.code or self.names is not None:
            raise typer.BadParameter(f"--graph, --code and --names go with --gold {'|'.join(Gold)}")
        if self.corpus is None:
            raise typer.BadParameter("give --corpus, or name the kind of gold with --gold")
        return self.corpus


async def compared(
    gold: Gold, files: Files, stores: Stores, embedder: Embedder | None, budget: int, progress: Progress
) -> Comparison:
    """Evaluate each ranker. Raises `typer.BadParameter` for files that the gold requires and that are missing."""
    match gold:
        case Gold.TRIPLETS:
            return await evaluate_triplets(_triplets(files), stores, embedder=embedder, progress=progress)
        case Gold.ENTITIES:
            return await evaluate_entities(_entities(files), stores, embedder=embedder, progress=progress)
        case Gold.ANSWERS:
            given = _answers(files)
            return await evaluate_answers(given, stores, embedder=embedder, budget=budget, progress=progress)


def _triplets(files: Files) -> TripletSet:
    if files.graph is None:
        raise typer.BadParameter("--gold triplets needs --graph ENTITIES RELATIONS")
    read = [each for path in files.questions for each in read_rows(path, triplet_question)]
    known = tuple(each for each in read if each is not None)
    return TripletSet(graph=read_graph(*files.graph), questions=known, left_out=len(read) - len(known))


def _entities(files: Files) -> EntitySet:
    if (files.graph is None) != bool(files.code):
        raise typer.BadParameter("--gold entities needs either --code FOLDER or --graph ENTITIES RELATIONS")
    questions = tuple(each for path in files.questions for each in read_rows(path, entity_question))
    if files.graph is None:
        return EntitySet.of_code(files.code, questions)
    return EntitySet.of_graph(read_graph(*files.graph), questions)


def _answers(files: Files) -> AnswerSet:
    if files.corpus is None:
        raise typer.BadParameter("--gold answers needs --corpus, the conversations")
    questions = tuple(each for path in files.questions for each in read_rows(path, name_question))
    names = read_names(files.names) if files.names else {}
    return AnswerSet(passages=read_passages(files.corpus), questions=questions, names=names)


def comparison_tables(found: Comparison) -> Iterator[str | Table]:
    """The means of each ranker with intervals, its first metric by kind, in per cent; then the regrets in points."""
    metrics = found.default.metrics
    yield _table(
        "%", *metrics, rows=((each.name, *(_mean(each, metric) for metric in metrics)) for each in found.columns)
    )
    first = next(iter(metrics))
    if len(kinds := [kind for kind, means in found.default.by_kind.items() if first in means]) > 1:
        yield f"\n{first} by kind, in per cent"
        yield _table(
            "",
            *(f"{kind.replace('_', ' ') or '(none)'} ({found.kinds[kind]})" for kind in kinds),
            rows=((each.name, *(f"{100 * each.by_kind[kind][first]:.1f}" for kind in kinds)) for each in found.columns),
        )
    yield "\nregret, in points: the best of the channels and of BM25, less this"
    yield _table("", *found.better, rows=_regrets(found))
    left = f"; {found.left_out} with no gold were left out" if found.left_out else ""
    yield f"\n{sum(found.kinds.values())} questions{left}; {found.default.name} takes {found.p50_ms:.1f} ms (median)"


def _table(*headings: str, rows: Iterable[Sequence[object]]) -> Table:
    found = table(*headings, rows=rows)
    found.columns[0].no_wrap = True  # names identify the rows
    return found


def _mean(column: Column, metric: str) -> str:
    low, high = (100 * bound for bound in column.intervals[metric])
    return f"{100 * column.metrics[metric]:.1f} [{low:.0f}, {high:.0f}]"


def _regrets(found: Comparison) -> Iterator[tuple[str, ...]]:
    for each in found.columns:
        if each.name not in found.rivals:
            regrets = found.regret(each).values()
            yield each.name, *(f"{regret.points:+.1f} ({regret.best})" for regret in regrets)
