"""Ingest: turn source code, JSON lines and texts into entities, claims and relations."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.ingest.extract.combining import CombinedExtractor as CombinedExtractor
    from graphsearch.ingest.extract.extraction import Fault as Fault
    from graphsearch.ingest.extract.extraction import Unread as Unread
    from graphsearch.ingest.extract.llm.extractor import LLMExtractor as LLMExtractor
    from graphsearch.ingest.ingestor import Ingestor as Ingestor
    from graphsearch.ingest.reading.extractor import RelationPattern as RelationPattern
    from graphsearch.ingest.reading.extractor import TextExtractor as TextExtractor
    from graphsearch.ingest.report import IngestReport as IngestReport
    from graphsearch.ingest.report import Progress as Progress
    from graphsearch.ingest.report import RememberReport as RememberReport
    from graphsearch.ingest.report import WritingReport as WritingReport
    from graphsearch.ingest.screening import InstructionFlag as InstructionFlag
    from graphsearch.ingest.screening import Redaction as Redaction
    from graphsearch.ingest.sources.documents import document_memories as document_memories
    from graphsearch.ingest.sources.memory_files import transcript_memories as transcript_memories
    from graphsearch.ingest.sources.stated import outcome as outcome
    from graphsearch.ingest.sources.stated import read_entity as read_entity
    from graphsearch.ingest.sources.stated import read_fact as read_fact
    from graphsearch.ingest.write.echoes import Echo as Echo
    from graphsearch.ingest.write.options import IngestLimits as IngestLimits
    from graphsearch.ingest.write.options import IngestOptions as IngestOptions
    from graphsearch.ingest.write.texts import DEFAULT_EXTRACTOR as DEFAULT_EXTRACTOR
    from graphsearch.model.extracted import ExtractedMemory as ExtractedMemory
    from graphsearch.model.extracted import ExtractedName as ExtractedName
    from graphsearch.model.extracted import KnownName as KnownName
    from graphsearch.model.extracted import Statement as Statement
    from graphsearch.text.dates import IsoDates as IsoDates
    from graphsearch.text.dates import NaturalDates as NaturalDates

__getattr__, __dir__ = lazily(__name__)
