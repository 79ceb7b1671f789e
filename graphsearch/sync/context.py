"""The context block of a session, blocking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from graphsearch.access.gate import Gate
from graphsearch.context import builder
from graphsearch.context.builder import ContextBlock, with_search_options
from graphsearch.context.token_budget import DEFAULT_BUDGETS, WorkType
from graphsearch.modes.options import UngatedSearchOptions
from graphsearch.protocols import TokenCounter
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.engine import GraphSearchEngine
from graphsearch.sync.facade import Facade, behind


class ContextBuilder(Facade[builder.ContextBuilder]):
    """As `graphsearch.context.ContextBuilder`."""

    def __init__(
        self,
        engine: GraphSearchEngine,
        *,
        counter: TokenCounter | None = None,
        budgets: Mapping[WorkType, int] | None = None,
    ) -> None:
        self.asynchronous = builder.ContextBuilder(behind(engine), counter=counter, budgets=budgets)


@with_search_options
def build_graph_context_block(
    engine: GraphSearchEngine,
    query: str,
    *,
    gate: Gate,
    session_id: str,
    budget: int = DEFAULT_BUDGETS[WorkType.UNKNOWN],
    counter: TokenCounter | None = None,
    **options: Unpack[UngatedSearchOptions],
) -> ContextBlock:
    """As `graphsearch.context.build_graph_context_block`: one block of triplets alone."""
    building = builder.build_graph_context_block(
        behind(engine),
        query,
        gate=gate,
        session_id=session_id,
        budget=budget,
        counter=counter,
        **options,
    )
    return BRIDGE.run(building)
