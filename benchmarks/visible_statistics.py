"""The price of statistics over what may be seen: p50 of a recall with the statistics of the scope, and of the visible.

    python -m benchmarks.visible_statistics [N …] [--embedded | --dsn DSN] [--json]

N turns of synthetic conversations (`benchmarks.conversations`) in both stores, behind Cedar and the default policies.
The statistics of the visible are counted from all memories that a principal may see, once for each version of the
scope: the first question, which is not measured, pays for the others. It is a price, not a promise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import cycle
from typing import Any

from benchmarks.asking import PRINCIPAL, SCOPE
from benchmarks.command import Setting, run
from benchmarks.conversations import Conversations
from benchmarks.graph import QuestionVectors
from benchmarks.measuring import Step, in_turns, once, rounded
from benchmarks.servers import analyse, databases
from graphsearch.access.gate import Gate, StatisticsOf
from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.ranking.recall_result import RecallResult
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    conversations = Conversations(setting.make(n))
    memory = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await conversations.write_to(memory)
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        postgres = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        await conversations.write_to(postgres)
        await analyse(server.admin)
        steps: dict[str, Step] = {
            f"{name}_{statistics}": _recalling(store, conversations, setting.runs, statistics)
            for name, store in (("memory", memory), ("postgres", postgres))
            for statistics in StatisticsOf
        }
        for step in steps.values():
            await once(step)  # indexes are built on first use
        timed = await in_turns(steps, runs=setting.runs)
    ratios = {
        name: rounded(timed[f"{name}_visible"].p50_ms / timed[f"{name}_scope"].p50_ms)
        for name in ("memory", "postgres")
    }
    return {
        "benchmark": "visible_statistics",
        **setting.about(conversations.workload),
        "data": "made-up conversations, benchmarks/conversations.py",
        "relations": 0,
        "ours": {name: each.as_dict() for name, each in timed.items()},
        "ratios": ratios,
        "target": "a price, not a promise",
        "met": True,
    }


def _recalling(
    store: GraphStore, conversations: Conversations, questions: int, statistics: StatisticsOf
) -> Callable[[], Awaitable[RecallResult]]:
    """A step that recalls for the next question; embedding costs nothing."""
    embedder = QuestionVectors(conversations, questions)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    gate = Gate(CedarAuthorizer.default(), PRINCIPAL, statistics)
    texts = cycle(embedder.texts)
    return lambda: engine.recall(next(texts), gate=gate)


if __name__ == "__main__":
    run(measure, __doc__)
