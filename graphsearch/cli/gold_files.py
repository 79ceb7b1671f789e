"""eval --gold: evaluation of triplets, entities and answers, and the files of each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import attrs
import typer

from graphsearch.evaluation import (
    AnswerSet,
    Comparison,
    EntitySet,
    Stores,
    TripletSet,
    evaluate_answers,
    evaluate_entities,
    evaluate_triplets,
    read_graph,
    read_names,
)
from graphsearch.evaluation.question_set import (
    entity_question,
    name_question,
    read_passages,
    read_rows,
    triplet_question,
)
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
    read = read_rows(files.questions, triplet_question)
    known = tuple(each for each in read if each is not None)
    return TripletSet(graph=read_graph(*files.graph), questions=known, left_out=len(read) - len(known))


def _entities(files: Files) -> EntitySet:
    if (files.graph is None) != bool(files.code):
        raise typer.BadParameter("--gold entities needs either --code FOLDER or --graph ENTITIES RELATIONS")
    questions = read_rows(files.questions, entity_question)
    if files.graph is None:
        return EntitySet.of_code(files.code, questions)
    return EntitySet.of_graph(read_graph(*files.graph), questions)


def _answers(files: Files) -> AnswerSet:
    if files.corpus is None:
        raise typer.BadParameter("--gold answers needs --corpus, the conversations")
    questions = read_rows(files.questions, name_question)
    names = read_names(files.names) if files.names else {}
    return AnswerSet(passages=read_passages(files.corpus), questions=questions, names=names)
