"""The cascade: resolve every surface form of a batch to the entity it names, cheap stages first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.ingest.resolve.batch import BatchDecisions, decide_batch, gather
from graphsearch.ingest.resolve.model_stages import EntityMatcher, by_embedding, by_llm
from graphsearch.ingest.resolve.resolution import Resolution
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedName
from graphsearch.model.identity import normalise_name
from graphsearch.names.comparing import FEW, abbreviates, initials_of
from graphsearch.names.forms import plain_form
from graphsearch.names.typed_names import TypedName
from graphsearch.protocols import Embedder
from graphsearch.stores.graph import GraphStore

_BETWEEN: Final = range(2, 4)
"""Characters between a name and another in brackets behind it, with or without quotes."""


@attrs.frozen(eq=False)
class Resolver:
    """Resolves surface forms against the names of a store, which it only reads.

    The stages in order: `id`, `alias`, `name_part`, `trigram`; then, for names still undecided, `embedding` if there is
    an embedder and `llm` if there is a judge; the rest are new entities.
    """

    _names: GraphStore
    _embedder: Embedder | None = attrs.field(default=None, kw_only=True, alias="embedder")
    _judge: EntityMatcher | None = attrs.field(default=None, kw_only=True, alias="judge")

    async def resolve(
        self, surfaces: Sequence[ExtractedName], *, same: Iterable[tuple[str, str]] = ()
    ) -> Sequence[Resolution]:
        """One resolution per surface form, in order; forms of one name and type have the same entity.

        ``same`` are pairs of a declared short name and its full name.

        The result does not depend on the order of the batch. Nothing is written: the caller writes entities that are
        new, or whose type has become known. Raises `InvalidInputError` for a name that no entity can have.
        """
        check.refuse("surfaces", *(check.text(f"name {each.name!r:.80}", each.name) for each in surfaces))
        names = [TypedName(surface.name, surface.type) for surface in surfaces]
        if not names:
            return []
        known = await gather(self._names, list(dict.fromkeys(names)))
        decided = await in_slices(decide_batch(names, known, _short_names((*same, *_declared(surfaces)))))
        if self._embedder is not None:
            decided = await by_embedding(decided, self._names, self._embedder)
        if self._judge is not None:
            decided = await by_llm(decided, self._judge)
        return _resolutions(surfaces, names, decided)


def _resolutions(
    surfaces: Sequence[ExtractedName], names: Sequence[TypedName], decided: BatchDecisions
) -> list[Resolution]:
    """A resolution for each surface form; of equal forms only the first can be unseen."""
    first = {named: at for at, named in reversed([*enumerate(names)])}
    entities = decided.known
    return [
        Resolution(
            surface=surface,
            entity=entities[each.match.entity_id].entity,
            stage=each.match.stage,
            score=each.match.score,
            conflict=each.conflict,
            unseen=each.unseen and first[named] == at,
            fault=each.fault,
            judged=each.judged,
            pending=each.pending,
        )
        for at, (surface, named) in enumerate(zip(surfaces, names, strict=True))
        for each in (decided.decisions[named],)
    ]


def _declared(surfaces: Sequence[ExtractedName]) -> Iterator[tuple[str, str]]:
    """Short names and the full ones beside them in brackets: "International Business Machines (IBM)".

    Surfaces are in text order; one has the initials of the other.
    """
    for a, b in pairwise(surfaces):
        if a.span and b.span and b.span.start - a.span.end in _BETWEEN:
            short, long = sorted((plain_form(a.name), plain_form(b.name)), key=lambda form: len(form.parts))
            if initials_of(short, long, FEW) or abbreviates(short, long):
                yield short.shown, long.shown


def _short_names(same: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The full name for each declared short name, by its normal form; ambiguous ones are left out."""
    found: dict[str, set[str]] = {}
    for short, full in same:
        found.setdefault(normalise_name(short), set()).add(full)
    return {short: next(iter(names)) for short, names in found.items() if len(names) == 1}
