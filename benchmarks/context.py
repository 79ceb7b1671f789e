"""A context block from 200 candidate triplets behind 10 policies: at most 25 ms cold.

    python -m benchmarks.context [N …] [--json]

Cold: every run has a new authorizer, a new token counter and empty caches of texts, names and ids; a store, its
indexes, the tokenizer's vocabulary and the package's own word lists are loaded, as in any process that has answered
once. The figure includes search, gate, rendering, packing
and the session's log; creating the authorizer, once per process, is reported separately. Four cases:

* ``allowed``: nothing is denied.
* ``denied``: a tenth of the entities and of the relations are private, and the principal may not see them.
* ``by_element``: an eleventh policy reads names, so that each element is decided on instead of each signature; no
  limit applies.
* ``observations``: nothing is denied, and the block also has recalled memories, from as many as there are entities; no
  limit applies.
"""

from __future__ import annotations

import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.asking import PRINCIPAL, SCOPE
from benchmarks.command import Setting, run
from benchmarks.graph import Graph, QuestionVectors
from benchmarks.measuring import Sample, rounded, timed
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBlock, ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Memory, Mention, Vector
from graphsearch.stores.memory import InMemoryGraphStore

LIMIT_MS: Final = 25.0
CANDIDATES: Final = 200
PRIVATE_SHARE: Final = 0.1

_HERE: Final = Path(__file__).parent


@attrs.define
class Case:
    """One case and its measurements."""

    engine: GraphSearchEngine
    policies: tuple[str, ...]
    questions: tuple[str, ...]
    observations: bool = False
    making: list[float] = attrs.field(factory=list)
    wall: list[float] = attrs.field(factory=list)
    cpu: list[float] = attrs.field(factory=list)
    block: ContextBlock | None = None

    async def run_cold(self, number: int) -> None:
        """Build one block, with nothing cached from the previous one."""
        forget()
        start = time.perf_counter()
        authorizer = CedarAuthorizer.from_files([_shipped(), *(_HERE / name for name in self.policies)])
        self.making.append(1e3 * (time.perf_counter() - start))
        builder = ContextBuilder(self.engine)
        question = self.questions[number % len(self.questions)]

        async def build() -> None:
            self.block = await builder.build(
                question,
                gate=Gate(authorizer, PRINCIPAL),
                session_id=f"session {number}",
                limit=CANDIDATES,
                observations=self.observations,
            )

        used = time.thread_time()
        self.wall.append(await timed(build))
        self.cpu.append(1e3 * (time.thread_time() - used))

    def report(self) -> dict[str, Any]:
        """The figures, and the composition of the last block."""
        block, sample = self.block, Sample(tuple(self.wall), tuple(self.cpu))
        making = sorted(self.making)[len(self.making) // 2]
        return {
            **sample.as_dict(),
            "authorizer_ms": rounded(making),
            "met": sample.p50_ms <= LIMIT_MS,
            "met_with_authorizer": sample.p50_ms + making <= LIMIT_MS,
            "candidates": len(block.triplets) + block.skipped if block else 0,
            "memories": len(block.memories) + block.skipped_memories if block else 0,
            "denied": sum(block.denied.values()) if block else 0,
        }


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    opened = await _case(workload, setting, 0.0)
    cases = {
        "allowed": opened,
        "denied": await _case(workload, setting, PRIVATE_SHARE),
        "by_element": Case(opened.engine, (*opened.policies, "context_names.cedar"), opened.questions),
        "observations": await _case(workload, setting, 0.0, observations=True),
    }
    for case in cases.values():
        await case.run_cold(0)  # indexes and the vocabulary
        case.making, case.wall, case.cpu = [], [], []
    for number in range(setting.runs):
        for case in cases.values():
            await case.run_cold(number)
    figures = {name: case.report() for name, case in cases.items()}
    return {
        "benchmark": "context",
        **setting.about(workload),
        "ours": figures,
        "target": f"<= {LIMIT_MS:g} ms",
        "met": figures["allowed"]["met"] and figures["denied"]["met"],
    }


async def _case(workload: Any, setting: Setting, private_share: float, *, observations: bool = False) -> Case:
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    graph = Graph.of(workload, private_share=private_share)
    await graph.write_to(store)
    if observations:
        await store.write(_with_memories(graph))
    embedder = QuestionVectors(workload, setting.runs)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    return Case(engine, ("context_policies.cedar",), embedder.texts, observations)


def _with_memories(graph: Graph) -> Batch:
    """As many memories as there are entities: each claims one relation of an entity, and mentions both ends."""
    names = {entity.id: entity.name for entity in graph.entities}
    by_source = {relation.source_id: relation for relation in graph.relations}
    memories = [Memory(id=f"m{row}", text=relation.fact) for row, relation in enumerate(by_source.values())]
    mentions = [
        Mention(memory_id=memory.id, entity_id=end, surface=names[end])
        for memory, relation in zip(memories, by_source.values(), strict=True)
        for end in {relation.source_id, relation.target_id}
    ]
    vectors: dict[Any, Vector] = {
        memory.id: graph.vectors[source] for memory, source in zip(memories, by_source, strict=True)
    }
    return Batch(memories=memories, mentions=mentions, vectors=vectors)


def forget() -> None:
    """Empty every bounded cache of a graphsearch function; the others hold what the package brings itself."""
    ours = [module for name, module in sys.modules.items() if name.startswith("graphsearch.")]
    for function in (value for module in ours for value in vars(module).values()):
        if hasattr(function, "cache_clear") and function.cache_parameters()["maxsize"] is not None:
            function.cache_clear()


def _shipped() -> Path:
    return Path(str(files("graphsearch.authz.policies").joinpath("default.cedar")))


if __name__ == "__main__":
    run(measure, __doc__)
