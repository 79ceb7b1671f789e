"""Evaluation of finding triplets in a graph: by each mode and channel, and by plain BM25."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import Comparison, Values, compare
from graphsearch.evaluation.given_graph import GivenGraph, write_graph
from graphsearch.evaluation.gold import TWO_HOPS, TripletNames, TripletQuestion, faults_of_set
from graphsearch.evaluation.ranks import BM25, Line, ask, by_facts, by_lines, by_modes, triplets_of
from graphsearch.evaluation.scopes import Stores, fresh_scope
from graphsearch.ingest import Progress
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder

BETTER: Final = ("found", "R@10")


@attrs.frozen(kw_only=True)
class TripletSet:
    """A graph and questions about it. Raises `InvalidInputError` for a gold triplet that is not in it.

    ``left_out`` is the number of further questions whose triplets are unknown.
    """

    graph: GivenGraph
    questions: tuple[TripletQuestion, ...]
    left_out: int = 0

    def __attrs_post_init__(self) -> None:
        known = self.graph.triples
        check.refuse(
            "question set",
            *faults_of_set(self.questions),
            *(
                f"question {question.id!r}: there is no triplet {' '.join(gold)!r}"
                for question in self.questions
                for gold in sorted(question.gold - known)
            ),
        )


async def evaluate_triplets(
    given: TripletSet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """Evaluate every mode that uses no language model, and each channel alone, on finding the gold triplets.

    * "found": the share of questions with all gold triplets among the first 3, or 10 for two hops.
    * "R@10": the share of a question's gold triplets among the first 10, as the mean over questions.
    * "lost": the share of answerable questions that get nothing, "silenced": that of unanswerable ones.

    The scope is removed at the end, also on failure. Raises what writing and searching raise.
    """
    async with fresh_scope(stores) as store:
        await write_graph(given.graph, store, embedder)
        engine = GraphSearchEngine(store=store, embedder=embedder)
        facts, plain = by_facts(store, embedder, TWO_HOPS), await by_lines(store, TWO_HOPS)
        ranks = {**by_modes(engine, TWO_HOPS, triplets_of), **facts, BM25: plain}
        asked = await ask({each.id: each.question for each in given.questions}, ranks, progress)
    kinds = {question.id: question.kind for question in given.questions}
    metrics = {name: measures(given.questions, found) for name, found in asked.found.items()}
    return attrs.evolve(compare(metrics, kinds, better=BETTER, p50_ms=asked.p50_ms), left_out=given.left_out)


def measures(questions: Sequence[TripletQuestion], found: Mapping[str, Sequence[Line]]) -> dict[str, Values]:
    """The metrics of `evaluate_triplets`, by question."""
    named = {id_: [_names(line) for line in lines] for id_, lines in found.items()}
    asked = [question for question in questions if question.gold]
    foreign = [question for question in questions if not question.gold]
    return {
        "found": {each.id: float(each.gold <= {*named[each.id][: each.within]}) for each in asked},
        "R@10": {each.id: len(each.gold & {*named[each.id][:TWO_HOPS]}) / len(each.gold) for each in asked},
        "lost": {each.id: float(not named[each.id]) for each in asked},
        "silenced": {each.id: float(not named[each.id]) for each in foreign},
    }


def _names(line: Line) -> TripletNames:
    source, relation, target = line
    return source.name, relation.type, target.name
