"""The block of text that a session is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from graphsearch.context import builder
from graphsearch.context.budget import DEFAULT_BUDGETS, WorkType
from graphsearch.context.builder import ContextBlock
from graphsearch.model import Principal
from graphsearch.modes.request import SearchOptions
from graphsearch.protocols import Authorizer, TokenCounter
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.engine import GraphSearchEngine
from graphsearch.sync.facade import Facade, behind


class ContextBuilder(Facade[builder.ContextBuilder]):
    """As `graphsearch.context.ContextBuilder`."""

    def __init__(
        self,
        engine: GraphSearchEngine,
        authorizer: Authorizer,
        *,
        counter: TokenCounter | None = None,
        budgets: Mapping[WorkType, int] | None = None,
    ) -> None:
        self.asynchronous = builder.ContextBuilder(behind(engine), authorizer, counter=counter, budgets=budgets)


def build_graph_context_block(
    engine: GraphSearchEngine,
    query: str,
    *,
    principal: Principal,
    authorizer: Authorizer,
    session_id: str,
    budget: int = DEFAULT_BUDGETS[WorkType.UNKNOWN],
    counter: TokenCounter | None = None,
    **options: Unpack[SearchOptions],
) -> ContextBlock:
    """As `graphsearch.context.build_graph_context_block`: one block of triplets alone."""
    building = builder.build_graph_context_block(
        behind(engine),
        query,
        principal=principal,
        authorizer=authorizer,
        session_id=session_id,
        budget=budget,
        counter=counter,
        **options,
    )
    return BRIDGE.run(building)
