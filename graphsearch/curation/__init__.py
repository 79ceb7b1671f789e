"""Curation: duplicates, merging, forgetting, health and communities, and browsing the graph by entity."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.curation.browsing import Backlink as Backlink
    from graphsearch.curation.browsing import EntityGraph as EntityGraph
    from graphsearch.curation.browsing import EntityRecall as EntityRecall
    from graphsearch.curation.browsing import Event as Event
    from graphsearch.curation.browsing import EventKind as EventKind
    from graphsearch.curation.browsing import Related as Related
    from graphsearch.curation.browsing import Standing as Standing
    from graphsearch.curation.curator import Curator as Curator
    from graphsearch.curation.entity_search import EntityHit as EntityHit
    from graphsearch.curation.entity_search import Way as Way
    from graphsearch.curation.judging import Finding as Finding
    from graphsearch.curation.judging import Judged as Judged
    from graphsearch.curation.judging import JudgeReport as JudgeReport
    from graphsearch.curation.receipts import Receipt as Receipt
    from graphsearch.curation.receipts import Verification as Verification
    from graphsearch.curation.summarising import SummariesReport as SummariesReport
    from graphsearch.curation.summarising import SummaryFailure as SummaryFailure
    from graphsearch.health.duplicates import Ambiguity as Ambiguity
    from graphsearch.health.duplicates import Duplicate as Duplicate
    from graphsearch.health.duplicates import Verdict as Verdict

__getattr__, __dir__ = lazily(__name__)
