"""The blocking API, for scripts, notebooks, and threads of programs that are not asynchronous."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.sync.bridge import close as close
    from graphsearch.sync.bridge import hold as hold
    from graphsearch.sync.bridge import run as run
    from graphsearch.sync.bridge import time_limit as time_limit
    from graphsearch.sync.engine import ContextBuilder as ContextBuilder
    from graphsearch.sync.engine import Curator as Curator
    from graphsearch.sync.engine import FederatedEngine as FederatedEngine
    from graphsearch.sync.engine import FeedbackService as FeedbackService
    from graphsearch.sync.engine import GraphSearchEngine as GraphSearchEngine
    from graphsearch.sync.engine import Ingestor as Ingestor
    from graphsearch.sync.engine import build_graph_context_block as build_graph_context_block
    from graphsearch.sync.functions import estimate_reembedding as estimate_reembedding
    from graphsearch.sync.functions import evaluate as evaluate
    from graphsearch.sync.functions import evaluate_answers as evaluate_answers
    from graphsearch.sync.functions import evaluate_entities as evaluate_entities
    from graphsearch.sync.functions import evaluate_triplets as evaluate_triplets
    from graphsearch.sync.functions import export_scope as export_scope
    from graphsearch.sync.functions import import_export as import_export
    from graphsearch.sync.functions import import_scope as import_scope
    from graphsearch.sync.functions import reembed as reembed
    from graphsearch.sync.postgres import EmbeddedPostgres as EmbeddedPostgres
    from graphsearch.sync.postgres import PostgresGraphStore as PostgresGraphStore
    from graphsearch.sync.postgres import migrate as migrate
    from graphsearch.sync.postgres import scrub as scrub
    from graphsearch.sync.stores import GraphStore as GraphStore
    from graphsearch.sync.stores import InMemoryGraphStore as InMemoryGraphStore
    from graphsearch.sync.stores import Stores as Stores
    from graphsearch.sync.stores import cached as cached

__getattr__, __dir__ = lazily(__name__)
