"""What comes in: source code, JSON lines and texts to entities, claims and relations."""

from typing import TYPE_CHECKING

from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.ingest.combining import CombinedExtractor as CombinedExtractor
    from graphsearch.ingest.ingestor import Ingestor as Ingestor
    from graphsearch.ingest.llm.extractor import LLMExtractor as LLMExtractor
    from graphsearch.ingest.report import Fault as Fault
    from graphsearch.ingest.report import IngestReport as IngestReport
    from graphsearch.ingest.report import Progress as Progress
    from graphsearch.ingest.report import RememberReport as RememberReport
    from graphsearch.ingest.report import Unread as Unread

_HOMES = {
    "CombinedExtractor": "graphsearch.ingest.combining",
    "Fault": "graphsearch.ingest.report",
    "IngestReport": "graphsearch.ingest.report",
    "Ingestor": "graphsearch.ingest.ingestor",
    "LLMExtractor": "graphsearch.ingest.llm.extractor",
    "Progress": "graphsearch.ingest.report",
    "RememberReport": "graphsearch.ingest.report",
    "Unread": "graphsearch.ingest.report",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)  # stores fold claims, and need nothing else of this room
