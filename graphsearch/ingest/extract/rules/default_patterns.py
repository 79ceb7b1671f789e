"""The relations that are read out of English text, as data."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.group_patterns import BELONGING
from graphsearch.ingest.extract.rules.money_patterns import PAYING
from graphsearch.ingest.extract.rules.patterns import RelationPattern
from graphsearch.ingest.extract.rules.people_patterns import LIVING, REPORTING, WORKING
from graphsearch.ingest.extract.rules.thing_patterns import MAKING

DEFAULT_PATTERNS: Final[tuple[RelationPattern, ...]] = (*REPORTING, *WORKING, *BELONGING, *PAYING, *MAKING, *LIVING)
"""An earlier pattern wins over a later one that relates the same two names in the same way."""
