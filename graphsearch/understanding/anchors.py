"""Anchors: the entities that a question names, by exact names, by similar ones, or from its links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final
from uuid import UUID

import attrs

from graphsearch._support.concurrency import aside
from graphsearch.access.reader import Reader
from graphsearch.access.window import ROUNDS
from graphsearch.claims.naming import folded_name
from graphsearch.model import Entity, SimilarName
from graphsearch.query.question_names import MAX_NAMESAKES, Anchor, Named, anchors, joined, named, runs
from graphsearch.text.trigrams import similarity
from graphsearch.understanding.linking import Link
from graphsearch.understanding.name_lookup import MAX_LOOKED_UP

LEAST_SIMILARITY: Final = 0.75
"""A less similar name is another name. Below 0.80 a link is shown, but does not make a plan entity-centric."""
FIRST_LIMIT: Final = 2 * MAX_NAMESAKES
"""Similar names requested from the store at first; twice as many in each further round."""


async def find_anchors(text: str, reader: Reader) -> tuple[Anchor, ...]:
    """The visible entities that a text names: exact names first, the longest of them first.

    A written name that overlaps no exact one is looked up by similarity, and means the entities that have the most
    similar name, unless more than `MAX_NAMESAKES` share it.
    """
    exact = await _exact(text, reader)
    spans = [span for anchor in exact for span in anchor.spans]
    left = [name for name in named(text) if not any(name.start < end and start < name.end for start, end in spans)]
    return tuple(joined([*exact, *await _similar(left[:MAX_LOOKED_UP], reader)])) if left else exact


def anchors_of(question: str, links: Iterable[Link]) -> tuple[Anchor, ...]:
    """One anchor for each linked entity, in the order in which the question names them first."""
    found: dict[UUID, Anchor] = {}
    for each in sorted(links, key=lambda link: (link.start, -link.probability, link.entity_id)):
        known = found.get(each.entity_id)
        spans = ((each.start, each.end),) if known is None else (*known.spans, (each.start, each.end))
        if known is None or each.probability > known.confidence:
            known = Anchor(
                entity_id=each.entity_id,
                name=question[each.start : each.end],
                alias=each.alias,
                confidence=each.probability,
                spans=spans,
                whole=known is not None and known.whole,
            )
        found[each.entity_id] = attrs.evolve(known, spans=spans, whole=known.whole or each.full)
    return tuple(found.values())


async def _exact(text: str, reader: Reader) -> tuple[Anchor, ...]:
    candidates = runs(text)
    matches = await reader.find_names(sorted({run.name for run in candidates}))
    hits = await reader.locate(sorted({match.entity_id for match in matches}))
    types = dict(zip(reader.entity_ids(hits.keys), await reader.entity_types(hits), strict=True))
    seen = [match for match in matches if match.entity_id in types]
    return tuple(anchors(candidates, seen, types))


async def _similar(names: Sequence[Named], reader: Reader) -> list[Anchor]:
    """Anchors by similar names; requests more if hidden entities may precede visible ones."""
    best: dict[str, list[_Likeness]] = {}
    texts, limit = sorted({name.text for name in names}), FIRST_LIMIT
    for _ in range(ROUNDS):
        proposed = await reader.similar_names(texts, threshold=LEAST_SIMILARITY, limit=limit)
        visible = await _visible((each.entity_id for found in proposed.values() for each in found), reader)
        size = len(texts) * sum(1 + len(each.aliases) for each in visible.values())
        best |= await aside(partial(_best_of, texts, proposed, visible), size)
        texts = [text for text in texts if len(proposed[text]) == limit and not _settled(best[text], proposed[text])]
        if not texts:
            break
        limit *= 2
    return [
        Anchor(
            entity_id=found.entity_id,
            name=name.text,
            alias=found.alias,
            confidence=found.similarity,
            spans=((name.start, name.end),),
        )
        for name in names
        for found in best[name.text]
        if len(best[name.text]) <= MAX_NAMESAKES
    ]


@attrs.frozen
class _Likeness:
    """An entity with a visible name that is similar to a requested one."""

    entity_id: UUID
    similarity: float
    alias: bool


async def _visible(ids: Iterable[UUID], reader: Reader) -> Mapping[UUID, Entity]:
    """The entities that hold and are visible, with their visible aliases."""
    hits = await reader.locate(sorted(set(ids)))
    return {entity.id: entity for entity in await reader.entities(hits.keys)}


def _best_of(
    texts: Sequence[str], proposed: Mapping[str, Sequence[SimilarName]], visible: Mapping[UUID, Entity]
) -> dict[str, list[_Likeness]]:
    return {text: _best(text, proposed[text], visible) for text in texts}


def _best(text: str, proposed: Sequence[SimilarName], visible: Mapping[UUID, Entity]) -> list[_Likeness]:
    """The visible entities whose visible names are most similar to a text, all equally."""
    likely = [_likeness(text, visible[each.entity_id]) for each in proposed if each.entity_id in visible]
    most = max((each.similarity for each in likely), default=0.0)
    return [each for each in likely if each.similarity == most >= LEAST_SIMILARITY]


def _likeness(text: str, entity: Entity) -> _Likeness:
    folded = folded_name(text)
    by_name = similarity(folded, folded_name(entity.name))
    by_alias = max((similarity(folded, folded_name(alias)) for alias in entity.aliases), default=0.0)
    return _Likeness(entity.id, max(by_name, by_alias), alias=by_alias > by_name)


def _settled(best: Sequence[_Likeness], proposed: Sequence[SimilarName]) -> bool:
    """Whether nothing beyond the proposed ones can be as similar: it is at most as similar as the last of them."""
    return bool(best) and best[0].similarity > proposed[-1].similarity
