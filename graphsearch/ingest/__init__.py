"""What comes in: source code and JSON lines to entities, claims and relations."""

from graphsearch.ingest.ingestor import Ingestor
from graphsearch.ingest.report import Fault, IngestReport, Progress

__all__ = ["Fault", "IngestReport", "Ingestor", "Progress"]
