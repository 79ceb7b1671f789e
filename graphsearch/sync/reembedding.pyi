# Written by `python -m tests.sync.stubs`.

from graphsearch.ingest import Progress
from graphsearch.protocols import Embedder
from graphsearch.reembedding.estimating import ReembedEstimate
from graphsearch.reembedding.estimating import SAMPLE
from graphsearch.reembedding.running import BATCH
from graphsearch.reembedding.running import ReembedReport
from graphsearch.sync.stores import GraphStore

def reembed(store: GraphStore, embedder: Embedder, *, restart: bool=False, per_second: float | None=None, batch: int=BATCH, progress: Progress | None=None) -> ReembedReport:
    """Change the embedding model of a scope: embed again whatever has a vector, and switch at one moment.

    Until then the scope is read and written with the old vectors, by any process. What is written, changed or forgotten
    meanwhile is right afterwards. Texts are embedded page by page, ``batch`` at a time and at most ``per_second``
    texts a second; the new vectors are stored beside the old ones. Whoever is interrupted continues when called again
    with the same model. The switch is one transaction; readers go on meanwhile, writers wait. The vector index of a
    large scope is made afterwards, and searches are exact until then.

    From the switch on, engines with the old embedder raise `EmbeddingModelError`.

    Raises `ReembeddingError` if a change to another model is unfinished, which ``restart`` discards, or if this one is
    discarded by somebody else; `EmbeddingModelError` for a scope without vectors, and what the store and the embedder
    raise.
    """
    ...
def estimate_reembedding(store: GraphStore, embedder: Embedder, *, sample: int=SAMPLE) -> ReembedEstimate:
    """Estimate what `reembed` with this model would embed, and how long; nothing is changed.

    All texts that are left are read and counted, page by page; ``sample`` of each kind, chosen at random, are embedded.
    With 0 nothing but one letter is embedded. Raises what the store and the embedder raise.
    """
    ...
