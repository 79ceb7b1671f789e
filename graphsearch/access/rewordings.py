"""Visible elements whose texts are not the stored ones, since hidden memories have a part in these.

They are found by the texts that may be seen: an entity by its visible names, a relation by its visible fact. A store
finds them by the stored texts, so that their scores are computed here: those of meaning by an embedding of the visible
text, where the reader can embed, and those of words as if the text were of average length.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from graphsearch.access.walks import Walks
from graphsearch.columns import Floats, Hits, Mask
from graphsearch.model import ElementKind, Entity, Relation, Vector
from graphsearch.scoring.similarity import cosines
from graphsearch.text.bm25 import K1, embedding_text, frequencies, idf, searchable_text

RESTATED: Final = 500
"""Most relations of a scope that are read to find those with another visible fact, the first by id."""

Elements: TypeAlias = Sequence[Entity] | Sequence[Relation]
Score: TypeAlias = Callable[[Elements], Awaitable[Floats]]
"""Scores elements of one kind by their visible texts; NaN for those that are not found."""


class Rewordings(Walks):
    """Elements with another visible text than the stored one, and the scores of such texts."""

    async def _restated(self) -> tuple[Hits, list[Relation]]:
        """The relations of the view that state another fact than is stored, as hits without scores."""
        keys = await self._store.signed(sorted(self.view.refolded), limit=RESTATED)
        rows = (await self.related(keys)).rows
        changed = ~await self._unchanged(ElementKind.RELATION, rows.relations)
        found = rows.relations[changed]
        signatures, nothing = rows.signatures[changed], np.zeros(len(found))
        hits = Hits(keys=found, signatures=signatures, values=nothing, importance=nothing + 0.5)
        return hits, await self.relations(found)

    async def _renamed(self, hits: Hits, text: Callable[[Entity], str]) -> tuple[Mask, list[Entity]]:
        """Which visible entities have another visible text than is stored, and these entities as visible."""
        changed = np.zeros(len(hits), np.bool_)
        partial = np.flatnonzero([self._gatekeeper.entities.is_partial(id_) for id_ in self.entity_ids(hits.keys)])
        if not len(partial):
            return changed, []
        stored: Sequence[Entity] = await self._store.elements(ElementKind.ENTITY, hits.keys[partial])
        shown = await self._gatekeeper.entities.admitted(stored)
        words = await self._store.words([each.id for each in shown])  # they may be those of hidden memories
        changed[partial] = [now.id in words or text(then) != text(now) for then, now in zip(stored, shown, strict=True)]
        return changed, [each for each, other in zip(shown, changed[partial], strict=True) if other]

    def _distances(self, vector: Vector) -> Score:
        """Score by cosine distance."""

        async def score(elements: Elements) -> Floats:
            vectors = await self._embedded([embedding_text(each) for each in elements])
            if not vectors.any():
                return np.full(len(elements), np.nan)
            distances = 1.0 - cosines(vectors, np.asarray(vector / np.linalg.norm(vector), np.float32))
            return np.where(vectors.any(axis=1), distances, np.nan)

        return score

    def _word_scores(self, kind: ElementKind, query: str) -> Score:
        """Score by BM25."""
        terms = list(dict.fromkeys(self.analyser.terms(query)))

        async def score(elements: Elements) -> Floats:
            documents = await self.document_count(kind)
            containing = await self.document_frequencies(kind, [[term] for term in terms])
            rarity = {term: idf(documents, number) for term, number in zip(terms, containing, strict=True)}
            counted = [frequencies(searchable_text(each), self.analyser) for each in elements]
            values = [sum(rarity[term] * n / (n + K1) for term in terms if (n := each.get(term))) for each in counted]
            return np.array([value or np.nan for value in values], np.float64)

        return score
