"""The strategies generate valid model objects."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from graphsearch.model import Batch, Scope, Vector
from graphsearch.testing.strategies import texts
from tests.strategies import graphs, scopes, vectors


@given(scopes())
def test_scopes(scope: Scope) -> None:
    assert scope.org_id.strip()
    assert scope.project_id.strip()


@given(texts())
def test_texts(text: str) -> None:
    assert "\0" not in text
    assert text.encode()


@given(vectors(4))
def test_vectors(vector: Vector) -> None:
    assert vector.any()
    assert np.array_equal(vector, vector.astype(np.float16))


@given(graphs())
def test_graphs_refer_to_what_is_in_them(batch: Batch) -> None:
    entities = {entity.id for entity in batch.entities}
    memories = {memory.id for memory in batch.memories}
    assert {end for each in batch.relations for end in (each.source_id, each.target_id)} <= entities
    assert {end for each in batch.claims for end in (each.source_id, each.target_id)} <= entities
    assert {each.entity_id for each in batch.mentions} <= entities
    assert {each.memory_id for each in batch.mentions} | {each.memory_id for each in batch.claims} <= memories
