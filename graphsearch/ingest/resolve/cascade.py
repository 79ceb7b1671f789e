"""The cascade: every surface of a batch to the entity it names, cheap stages first (design 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphsearch.ingest.resolve.declared_aliases import declared, short_names
from graphsearch.ingest.resolve.drafting import Draft, draft
from graphsearch.ingest.resolve.embedding_stage import by_embedding
from graphsearch.ingest.resolve.gathering import gather
from graphsearch.ingest.resolve.llm_stage import Judge, by_llm
from graphsearch.ingest.resolve.resolution import Names, Resolution, ResolutionOptions
from graphsearch.model import validation as check
from graphsearch.model.extracted import Surface
from graphsearch.names.typed_names import TypedName
from graphsearch.protocols import Embedder


class Resolver:
    """Resolves surfaces against the names of a store, which it only reads.

    The stages, in order: `id`, `alias`, `name_part`, `trigram`; then for what none of these knew `embedding` where
    there is an embedder, `llm` where there is a judge; what is left is a new entity.
    """

    def __init__(
        self,
        names: Names,
        *,
        embedder: Embedder | None = None,
        judge: Judge | None = None,
        options: ResolutionOptions | None = None,
    ) -> None:
        self._names = names
        self._embedder = embedder
        self._judge = judge
        self._options = options or ResolutionOptions()

    async def resolve(
        self, surfaces: Sequence[Surface], *, same: Iterable[tuple[str, str]] = ()
    ) -> Sequence[Resolution]:
        """One resolution a surface, in order; surfaces of one name and type have the same entity.

        ``same`` are pairs of a short name and the name that somebody declares it to be short for.

        The order within a batch does not matter. Nothing is written: entities that are new, or whose type was not
        known and is now, are for the caller to write. `InvalidInputError` for a name that no entity can have.
        """
        check.refuse("surfaces", *(check.text(f"name {each.name!r:.80}", each.name) for each in surfaces))
        asked = [TypedName(surface.name, surface.type) for surface in surfaces]
        if not asked:
            return []
        known = await gather(self._names, list(dict.fromkeys(asked)), self._options)
        decided = draft(asked, known, self._options, declared(surfaces), short_names(same))
        if self._embedder is not None:
            decided = await by_embedding(decided, self._names, self._embedder)
        if self._judge is not None:
            decided = await by_llm(decided, self._judge)
        return _resolutions(surfaces, asked, decided)


def _resolutions(surfaces: Sequence[Surface], asked: Sequence[TypedName], decided: Draft) -> list[Resolution]:
    """A resolution for each surface; of those that are alike only the first can have been new to the graph."""
    found: list[Resolution] = []
    told: set[TypedName] = set()
    for surface, named in zip(surfaces, asked, strict=True):
        decision = decided.decisions[named]
        found.append(
            Resolution(
                surface=surface,
                entity=decided.known.entities[decision.match.entity_id],
                stage=decision.match.stage,
                score=decision.match.score,
                conflict=decision.conflict,
                unseen=decision.unseen and named not in told,
                fault=decision.fault,
                asked=decision.asked,
                pending=decision.pending,
            )
        )
        told.add(named)
    return found
