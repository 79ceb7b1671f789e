"""Right and wrong uses of options: mypy reports an error that is ignored in vain, so what is wrong must be one."""

from typing import assert_type

from graphsearch import ALLOW_ALL, ContextBlock, ContextBuilder, GraphSearchEngine, RecallResult, SearchResult, sync


async def use(engine: GraphSearchEngine, context: ContextBuilder, waiting: sync.GraphSearchEngine) -> None:
    assert_type(await engine.search("q", limit=3, mode="summary"), SearchResult)
    assert_type(await engine.recall("q", workload="text"), RecallResult)
    assert_type(await context.build("q", gate=ALLOW_ALL, session_id="s", depth=1), ContextBlock)
    assert_type(waiting.search("q", limit=3), SearchResult)
    await engine.search("q", limits=3)  # type: ignore[call-arg]
    await engine.search("q", limit="3")  # type: ignore[arg-type]
    await engine.search(limit=3)  # type: ignore[call-arg]
    await engine.explain("q", limit=3)  # type: ignore[call-arg]
    await context.build("q", session_id="s")  # type: ignore[call-arg]
    waiting.search("q", limits=3)  # type: ignore[call-arg]
    assert_type(await engine.search("q"), RecallResult)  # type: ignore[assert-type]
