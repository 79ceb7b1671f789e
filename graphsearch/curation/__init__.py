"""Curation: duplicates, merging, forgetting, health and communities, and browsing the graph by entity."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.curation.backlinks import Backlink as Backlink
    from graphsearch.curation.curator import Curator as Curator
    from graphsearch.curation.duplicates import Duplicate as Duplicate
    from graphsearch.curation.duplicates import Verdict as Verdict
    from graphsearch.curation.entity_graph import EntityGraph as EntityGraph
    from graphsearch.curation.entity_recall import EntityRecall as EntityRecall
    from graphsearch.curation.entity_recall import Related as Related
    from graphsearch.curation.entity_recall import Standing as Standing
    from graphsearch.curation.judgements import Finding as Finding
    from graphsearch.curation.judgements import Judged as Judged
    from graphsearch.curation.judgements import JudgeReport as JudgeReport
    from graphsearch.curation.matching import EntityHit as EntityHit
    from graphsearch.curation.matching import Way as Way
    from graphsearch.curation.timeline import Event as Event
    from graphsearch.curation.timeline import EventKind as EventKind

__getattr__, __dir__ = lazily(__name__)
