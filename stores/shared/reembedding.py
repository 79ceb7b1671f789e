"""A change of the embedding model in all stores: when it is refused, and what shows that a new vector is current."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.errors import EmbeddingModelError, InvalidInputError, ReembeddingError
from graphsearch.model import Entity, Memory, Relation, Scope, validation
from graphsearch.protocols.graph_store import NewVector
from graphsearch.stores.shared.vectors import Vectors, read_vectors


@attrs.frozen
class Shadow:
    """The vector that an element has after a change of the embedding model; None for a text that has become blank.

    The digest is of the text that it was made of.
    """

    digest: UUID
    vector: NDArray[np.float16] | None


def refuse_model(name: str, dimensions: int) -> None:
    """Raise `InvalidInputError` for a model without a name, or with an impossible number of dimensions."""
    validation.refuse("embedder", validation.text("name", name), validation.dimensions(dimensions))


def is_begun(
    scope: Scope,
    present: tuple[str | None, int | None],
    unfinished: tuple[str | None, int | None],
    given: tuple[str, int],
    *,
    restart: bool,
) -> bool:
    """Whether a change to ``given`` is to be begun or continued; False if the scope has that model already.

    Models are names with dimensions. Raises `EmbeddingModelError` and `ReembeddingError`.
    """
    if present[0] is None:
        raise EmbeddingModelError(
            f"scope {scope} holds no vectors: ingest with an embedder, or import an export of it with one"
        )
    if unfinished[0] is not None and unfinished != given and not restart:
        raise ReembeddingError(
            f"a change of scope {scope} to {unfinished[0]!r} ({unfinished[1]} numbers) is unfinished: continue it, "
            "cancel it, or restart to discard it"
        )
    return present != given


def refuse_other_change(scope: Scope, unfinished: str | None, name: str) -> None:
    """Raise `ReembeddingError` unless a change to the model ``name`` is unfinished."""
    if unfinished is None or unfinished != name:
        raise ReembeddingError(
            f"no change of scope {scope} to {name!r} is unfinished: it was cancelled, restarted with another model, or "
            "finished elsewhere"
        )


def checked_vectors(vectors: Sequence[NewVector], name: str | None, dimensions: int | None) -> Vectors:
    """New vectors, without those of blank texts, as they are stored.

    Raises `InvalidInputError` for vectors that cannot be stored, and `EmbeddingModelError` for those of another length.
    """
    given = read_vectors({outdated.element.id: vector for outdated, vector in vectors if vector is not None})
    if given.faults:
        raise InvalidInputError("vectors", sorted(given.faults))
    given.refuse_others(name, dimensions)
    return given


def text_digest(element: Entity | Memory | Relation) -> UUID:
    """A digest of all that the embedded text of an element is made of (`graphsearch.text.bm25.embedding_text`)."""
    match element:
        case Entity():
            parts = [element.name, element.type, element.description]
        case Memory():
            parts = [element.subject, element.speaker, element.text]
        case Relation():
            parts = [element.fact]
    return UUID(bytes=hashlib.sha256(json.dumps(parts).encode()).digest()[:16])
