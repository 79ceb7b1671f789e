"""The protocols of the parts of an engine: matching methods suffice, and only a store inherits (`stores.graph`)."""

from graphsearch.protocols.parts import LLM as LLM
from graphsearch.protocols.parts import Authorizer as Authorizer
from graphsearch.protocols.parts import Clock as Clock
from graphsearch.protocols.parts import Embedder as Embedder
from graphsearch.protocols.parts import Extractor as Extractor
from graphsearch.protocols.parts import Frontier as Frontier
from graphsearch.protocols.parts import InputType as InputType
from graphsearch.protocols.parts import KnowingExtractor as KnowingExtractor
from graphsearch.protocols.parts import TokenCounter as TokenCounter
from graphsearch.protocols.parts import Traversal as Traversal
from graphsearch.protocols.parts import WordVectors as WordVectors
from graphsearch.protocols.store import Store as Store
