"""Searching elements by name, by text and by vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from graphsearch.columns import Hits, Keys
from graphsearch.model import ElementKind, NameMatch, SimilarName, SurfaceForm, Vector, View
from graphsearch.protocols.effects import reads
from graphsearch.text.bm25 import TermCounts


class Searching(Protocol):
    """Search for candidates by name, text and vector.

    Hits hold keys and scores as columns, for elements that the view admits. Names are compared normalised and
    case-folded; merged entities are not found by name. Vector searches may be approximate if the store declares it; all
    others are exact.
    """

    @reads
    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or an alias equals one of ``names``."""
        ...

    @reads
    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities with one of ``words`` in a name, or with ``prefix`` a word that starts with one of them.

        Words are those of `graphsearch.text.trigrams.name_words`. The ``name`` of a match is the requested word. At
        most ``limit`` matches per word, those with the lowest ids, by (id, word).
        """
        ...

    @reads
    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """For each of ``names`` the entities with a similar name or alias, best first, ties by id.

        Similarity is of trigrams. ``threshold`` is in [0.6, 1]; `InvalidInputError` below, where no index helps.
        """
        ...

    @reads
    async def surface_forms(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[SurfaceForm]:
        """Surface forms of mentions, by (entity, surface), each with the first ``limit`` of its memories.

        If ``names`` is given, only surface forms equal to one of them. Those of a merged entity are the ones that
        mentioned it before, and count for the other as well.
        """
        ...

    @reads
    async def first_written(
        self, entity_ids: Sequence[UUID], *, limit: int
    ) -> Mapping[UUID, Sequence[tuple[datetime, str]]]:
        """The first ``limit`` memories that mention each entity, by (created_at, id); entities without any are absent.

        Of a merged entity as in `surface_forms`.
        """
        ...

    @reads
    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance, in [0, 2], ties by key.

        `EmbeddingModelError` when the length of the vector is not the scope's.
        """
        ...

    @reads
    async def search_lexical(
        self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None = None
    ) -> Hits:
        """Elements of a kind by the BM25 of their text, best first, ties by key; any text is a valid query.

        ``counts`` replace the scope's own numbers of documents, so that scores of several scopes can be compared.
        """
        ...

    @reads
    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        """The entities with these ids that the view admits, in order of key."""
        ...

    @reads
    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """Stored vectors, float32 of shape (len(keys), dimensions) and length 1, in the order of the keys.

        An element without a vector has a row of zeros. A scope without an embedder has 0 dimensions.
        """
        ...

    @reads
    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """Words that entities are found by in addition to their texts, with their weights (`Batch.words`).

        Entities without any are left out. Weights are as stored: multiples of 1 / 64, at least 1 / 64.
        """
        ...

    @reads
    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements of a kind with a word in their texts: the N of BM25, maintained without counting."""
        ...

    @reads
    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """For each group of terms, the number of elements of a kind that have all of them in their texts.

        Terms are those of the store's `analyser`; an empty group counts every element with a word. Counts cover
        everything stored, visible or not, as `document_count` does.
        """
        ...
