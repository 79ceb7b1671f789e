"""The ten lines: ingest a folder, build a context block, report how the session went."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Outcome, Principal
from graphsearch.stores.memory import InMemoryGraphStore


async def main(folder: Path, question: str) -> None:
    """Answer one question about a folder of Python source."""
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    await Ingestor(engine).add(folder)

    ada = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=(store.scope,)))
    context = ContextBuilder(engine)
    block = await context.build(question, gate=ada, session_id="s1")
    print(block.text)

    report = await context.feedback("s1", Outcome.ACCEPTED, gate=ada)
    print(f"\n{block.tokens} tokens; {len(report.applied)} weights moved")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "graphsearch" / "ingest"
    asyncio.run(main(where, " ".join(sys.argv[2:]) or "how are symbolic links kept out?"))
