"""The order in which both stores list what memories say: of everything, or two runs could list ties in two ways."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from graphsearch.claims.folding import DatedClaim
from graphsearch.model import Claim, Mention

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


def mention_place(mention: Mention) -> tuple[Any, ...]:
    """By (memory, entity, span), one without a span first."""
    return (mention.memory_id, mention.entity_id, _span(mention), mention.surface, mention.type, mention.confidence)


def claim_place(dated: DatedClaim) -> tuple[Any, ...]:
    """In the order of the fold, then by what the claims say."""
    claim = dated.claim
    ends = (claim.source_id, claim.type, claim.target_id)
    period = (claim.valid_from or _EARLIEST, claim.valid_to or _LATEST)
    return (dated.order, ends, period, claim.extractor, claim.fact, claim.kind, claim.confidence, _span(claim))


def _span(said: Mention | Claim) -> tuple[int, int]:
    return (said.span.start, said.span.end) if said.span else (-1, -1)
