# Written by `python -m tests.sync.stubs`.

from collections.abc import Mapping
from graphsearch.access.gate import Gate
from graphsearch.context import builder
from graphsearch.context.builder import ContextBlock
from graphsearch.context.builder import with_search_options
from graphsearch.context.token_budget import DEFAULT_BUDGETS
from graphsearch.context.token_budget import WorkType
from graphsearch.model import FeedbackReport
from graphsearch.model import Outcome
from graphsearch.modes.options import UngatedSearchOptions
from graphsearch.protocols import TokenCounter
from graphsearch.recall.options import CHANNELS
from graphsearch.recall.options import ChannelName
from graphsearch.sync.engine import GraphSearchEngine
from graphsearch.sync.facade import Facade
from typing import Unpack

class ContextBuilder(Facade[builder.ContextBuilder]):
    """As `graphsearch.context.ContextBuilder`."""

    def __init__(self, engine: GraphSearchEngine, *, counter: TokenCounter | None=None, budgets: Mapping[WorkType, int] | None=None) -> None:
        ...

    def build(self, query: str, *, gate: Gate, session_id: str, budget: int | None=None, work_type: WorkType=WorkType.UNKNOWN, observations: bool=True, graph: bool=True, channels: tuple[ChannelName, ...]=CHANNELS, health: float | None=None, **options: Unpack[UngatedSearchOptions]) -> ContextBlock:
        """Build the block for a session, and log its elements for `feedback`.

        ``budget`` is in tokens, by default that of the ``work_type``; at 0 nothing is searched. ``observations`` and
        ``graph`` turn off a section; observations are recalled by ``channels``. ``health`` of the graph, in [0, 1]
        (`graphsearch.curation`): below 0.70 the graph counts for less, and gets less of the budget. The other options
        are those of `GraphSearchEngine.search`. The ``gate`` cannot be bypassed.

        Raises what `search` and `recall` raise, `InvalidInputError` and `MissingVocabularyError`.
        """
        ...

    def feedback(self, session_id: str, outcome: Outcome, *, gate: Gate) -> FeedbackReport:
        """Move the weights of the elements surfaced to a session, as `FeedbackService.apply`."""
        ...
@with_search_options
def build_graph_context_block(engine: GraphSearchEngine, query: str, *, gate: Gate, session_id: str, budget: int=DEFAULT_BUDGETS[WorkType.UNKNOWN], counter: TokenCounter | None=None, **options: Unpack[UngatedSearchOptions]) -> ContextBlock:
    """As `graphsearch.context.build_graph_context_block`: one block of triplets alone."""
    ...
