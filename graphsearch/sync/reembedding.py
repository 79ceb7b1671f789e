"""Changes of the embedding model, blocking. ``progress`` is called from another thread."""

from graphsearch.reembedding import estimating, running
from graphsearch.sync.facade import blocking

reembed = blocking(running.reembed)
estimate_reembedding = blocking(estimating.estimate_reembedding)
