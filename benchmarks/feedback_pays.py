"""The value of outcomes: nDCG@10 before and after 50, 200 and 1,000 sessions, a fifth of them reported wrong.

    python -m benchmarks.feedback_pays [N …] [--json]

Simulated, on a graph of N entities. Each relation is useful or not, which no search can see. A session asks about one
of twenty entities, is shown five triplets, and is accepted if three of them are useful, rework if one is, else
rejected; but a fifth of the sessions report another outcome than theirs. Questions about the same entities that no
session asked are then ranked. The whole product runs: blocks behind Cedar, the log of what was surfaced, and the
outcomes in the store.

Then an attacker reports one session that was shown everything: the largest change of any score is compared with φ · α.
With fewer ``--runs`` there are fewer sessions, 25 per run, and entities that are asked about, 5 per run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from benchmarks.asking import PRINCIPAL, SCOPE
from benchmarks.command import Setting, run
from benchmarks.graph import MODEL, Graph
from benchmarks.measuring import rounded
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation import GoldQuestion
from graphsearch.evaluation import measure as measured
from graphsearch.model import ALPHA, ElementKind, ElementRef, Outcome, Vector
from graphsearch.protocols import InputType
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.stores.memory import InMemoryGraphStore

SESSIONS: Final = (50, 200, 1_000)
WRONG: Final = 0.2
"""The share of sessions that report another outcome than theirs."""
USEFUL: Final = 0.3
"""The share of relations that are useful."""
TOPICS: Final = 20
HELD_OUT: Final = 4
"""Questions per topic that are ranked, and never asked in a session."""
SHOWN: Final = 5
SEEDS: Final = 3
"""Simulations, or as many as there are runs if these are fewer."""
SESSIONS_A_RUN: Final = 25
TOPICS_A_RUN: Final = 5

_RANKED: Final = 1_000
"""The depth of the ranking."""
_ALL: Final = 1_000_000
_ATTACKED: Final = 10
"""Questions whose scores are compared before and after the hostile session."""
_GOOD, _FAIR = 3, 1


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size: the means of some simulations, and the largest effect of the attack."""
    workload = setting.make(n)
    counted = [sessions for sessions in SESSIONS if sessions <= max(SESSIONS[0], SESSIONS_A_RUN * setting.runs)]
    seeds = min(SEEDS, setting.runs)
    topics = min(TOPICS, TOPICS_A_RUN * setting.runs, n)
    simulations = [await _simulated(workload, topics, counted, seed) for seed in range(seeds)]
    after = {sessions: fmean(each.ndcg[sessions] for each in simulations) for sessions in (0, *counted)}
    influence = ScoringOptions().feedback_influence
    worst = max(each.moved for each in simulations)
    return {
        "benchmark": "feedback_pays",
        **setting.about(workload),
        "runs": seeds,
        "wrong_outcomes": WRONG,
        "ndcg_at_10": {str(sessions): rounded(value) for sessions, value in after.items()},
        "each": [{str(sessions): rounded(value) for sessions, value in each.ndcg.items()} for each in simulations],
        "hostile_session_moves": worst,
        "bound": influence * ALPHA,
        "target": "nDCG@10 rises, and a hostile session moves no score by more than φ · α",
        "met": after[counted[-1]] > after[0] and worst <= influence * ALPHA + 1e-9,
    }


@attrs.frozen
class _Simulation:
    """nDCG@10 by the number of sessions before, and the largest change of a score by one hostile session."""

    ndcg: Mapping[int, float]
    moved: float


class _Vectors:
    """An embedder of the questions: each is near the entity that it is about."""

    name = MODEL

    def __init__(self, workload: Any) -> None:
        self.dimensions = workload.vec.shape[1]
        self._workload = workload
        self._known: dict[str, Vector] = {}

    def question(self, entity: int, number: int) -> str:
        """A question about an entity, a different one for each number."""
        text = f"question {number} about {self._workload.names[entity]}"
        noise = np.random.default_rng((entity, number)).standard_normal(self.dimensions) / np.sqrt(self.dimensions)
        vector = self._workload.vec[entity] + 0.6 * noise
        self._known[text] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return text

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:  # noqa: ARG002 - of the protocol
        """The vectors of questions; other texts, such as the name of a type, have the zero vector."""
        none = np.zeros(self.dimensions, np.float32)
        return np.array([self._known.get(text, none) for text in texts], np.float32)


async def _simulated(workload: Any, asked: int, counted: Sequence[int], seed: int) -> _Simulation:
    chance = random.Random(seed)
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    graph = Graph.of(workload)
    await graph.write_to(store)
    vectors = _Vectors(workload)
    engine = GraphSearchEngine(store=store, embedder=vectors)
    useful = {relation.id for relation in graph.relations if chance.random() < USEFUL}
    topics = chance.sample(range(workload.n), asked)
    ranked = [vectors.question(topic, number) for topic in topics for number in range(HELD_OUT)]
    builder, gate = ContextBuilder(engine), Gate(CedarAuthorizer.default(), PRINCIPAL)
    ndcg = {0: await _ndcg(engine, ranked, useful)}
    for session in range(1, counted[-1] + 1):
        text = vectors.question(chance.choice(topics), HELD_OUT + session)
        block = await builder.build(text, gate=gate, session_id=str(session), limit=SHOWN, observations=False)
        right = _outcome([triplet.relation.id for triplet in block.triplets], useful)
        wrong = [outcome for outcome in Outcome if outcome is not right]
        reported = chance.choice(wrong) if chance.random() < WRONG else right
        await builder.feedback(str(session), reported, gate=gate)
        if session in counted:
            ndcg[session] = await _ndcg(engine, ranked, useful)
    moved = max(
        [await _moved(engine, ranked[:_ATTACKED], graph, outcome) for outcome in (Outcome.REJECTED, Outcome.ACCEPTED)]
    )
    return _Simulation(ndcg, moved)


def _outcome(shown: Sequence[UUID], useful: set[UUID]) -> Outcome:
    """The true outcome of a session."""
    there = sum(id_ in useful for id_ in shown)
    if there >= _GOOD:
        return Outcome.ACCEPTED
    return Outcome.REWORK if there >= _FAIR else Outcome.REJECTED


async def _ndcg(engine: GraphSearchEngine, texts: Sequence[str], useful: set[UUID]) -> float:
    """The nDCG of rankings of everything within reach; the gold are the useful relations."""
    run = {text: [*await _scores(engine, text, _RANKED)] for text in texts}
    questions = [
        GoldQuestion(id=text, question=text, gold=frozenset(str(id_) for id_ in run[text] if id_ in useful))
        for text in texts
    ]
    return measured(questions, {text: [str(id_) for id_ in ids] for text, ids in run.items()}).metrics["nDCG@10"]


async def _scores(engine: GraphSearchEngine, text: str, limit: int) -> dict[UUID, float]:
    """The scores of the best relations, best first."""
    found = await engine.search(text, limit=limit)
    return {triplet.relation.id: triplet.score for triplet in found.triplets}


async def _moved(engine: GraphSearchEngine, texts: Sequence[str], graph: Graph, outcome: Outcome) -> float:
    """The largest change of any score when one session reports an outcome for every relation."""
    before = {text: await _scores(engine, text, _ALL) for text in texts}
    everything = [ElementRef(ElementKind.RELATION, str(relation.id)) for relation in graph.relations]
    await engine.store.apply_outcome(f"hostile, {outcome.name}", outcome, everything)
    after = {text: await _scores(engine, text, _ALL) for text in texts}
    return max(abs(after[text][id_] - score) for text, scores in before.items() for id_, score in scores.items())


if __name__ == "__main__":
    run(measure, __doc__)
