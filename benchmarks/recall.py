"""Recall of memories: p50 at most 60 ms in memory and 120 ms in Postgres, at 100,000 memories.

    python -m benchmarks.recall [N …] [--embedded | --dsn DSN] [--json]

N turns of synthetic conversations: see `benchmarks.conversations`. All channels run, the ten best are hydrated.
``gated`` has Cedar and the default policies decide on everything on the way; the limit is for recall without. Bare is
the same search by words and meaning alone, in numpy: see `benchmarks.bare_recall`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import cycle
from typing import Any, Final

from benchmarks.asking import PRINCIPAL, SCOPE
from benchmarks.bare_recall import BareRecall
from benchmarks.command import Setting, run
from benchmarks.conversations import Conversations
from benchmarks.graph import QuestionVectors
from benchmarks.measuring import Step, in_turns, once, rounded
from benchmarks.servers import analyse, databases
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.ranking.recall_result import RecallResult
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore

IN_MEMORY_MS: Final = 60.0
IN_POSTGRES_MS: Final = 120.0

Recall = Callable[[], Awaitable[RecallResult]]


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    conversations = Conversations(setting.make(n))
    memory = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await conversations.write_to(memory)
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        postgres = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        await conversations.write_to(postgres)
        await analyse(server.admin)
        recalls = {
            f"{name}{kind}": _recalling(store, conversations, setting.runs, gate)
            for name, store in (("memory", memory), ("postgres", postgres))
            for kind, gate in (("", None), ("_gated", Gate(CedarAuthorizer.default(), PRINCIPAL)))
        }
        for recall in recalls.values():
            await once(recall)  # indexes are built on first use
        steps: dict[str, Step] = {**recalls, "bare": BareRecall(conversations, setting.runs).recall}
        timed = await in_turns(steps, runs=setting.runs)
        stages = {name: await _stages(recall, setting.runs) for name, recall in recalls.items()}
    met = timed["memory"].p50_ms <= IN_MEMORY_MS and timed["postgres"].p50_ms <= IN_POSTGRES_MS
    return {
        "benchmark": "recall",
        **setting.about(conversations.workload),
        "data": "made-up conversations, benchmarks/conversations.py",
        "relations": 0,
        "mentions": conversations.named.size,
        "ours": {name: timed[name].as_dict() for name in recalls},
        "stages_ms": stages,
        "bare": timed["bare"].as_dict(),
        "ratio": rounded(timed["memory"].p50_ms / timed["bare"].p50_ms),
        "target": f"<= {IN_MEMORY_MS:g} ms in memory, <= {IN_POSTGRES_MS:g} ms in Postgres",
        "met": met,
    }


def _recalling(store: GraphStore, conversations: Conversations, questions: int, gate: Gate | None) -> Recall:
    """A step that recalls for the next question; embedding costs nothing."""
    embedder = QuestionVectors(conversations, questions)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    texts = cycle(embedder.texts)
    return lambda: engine.recall(next(texts), gate=gate)


async def _stages(recall: Recall, runs: int) -> dict[str, float]:
    """The times of the stages, as means."""
    found = [await recall() for _ in range(runs)]
    return {
        stage: rounded(sum(each.timings.get(stage, 0.0) for each in found) / len(found)) for stage in found[0].timings
    }


if __name__ == "__main__":
    run(measure, __doc__)
