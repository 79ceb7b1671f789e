"""The protocols of the parts of an engine; matching methods suffice, no inheritance is required."""

from graphsearch.protocols.graph_store import Curating as Curating
from graphsearch.protocols.graph_store import GraphStore as GraphStore
from graphsearch.protocols.graph_store import Learning as Learning
from graphsearch.protocols.graph_store import Moving as Moving
from graphsearch.protocols.graph_store import Reading as Reading
from graphsearch.protocols.graph_store import Reembeddable as Reembeddable
from graphsearch.protocols.graph_store import Reviewing as Reviewing
from graphsearch.protocols.graph_store import Scoped as Scoped
from graphsearch.protocols.graph_store import Searching as Searching
from graphsearch.protocols.graph_store import Walking as Walking
from graphsearch.protocols.graph_store import Writing as Writing
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
