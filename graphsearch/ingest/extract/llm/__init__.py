"""Extraction by a language model, which has to prove each statement by a quote from the text."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.ingest.extract.llm.extractor import LLMExtractor as LLMExtractor

_HOMES = {"LLMExtractor": "graphsearch.ingest.extract.llm.extractor"}

__getattr__, __dir__ = lazily(__name__, _HOMES)
