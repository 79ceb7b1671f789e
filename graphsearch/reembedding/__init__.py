"""Another embedding model for a scope, without ingesting again: while it is read and written, and at one moment."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.reembedding.running import ReembedEstimate as ReembedEstimate
    from graphsearch.reembedding.running import ReembedReport as ReembedReport
    from graphsearch.reembedding.running import estimate_reembedding as estimate_reembedding
    from graphsearch.reembedding.running import reembed as reembed

__getattr__, __dir__ = lazily(__name__)
