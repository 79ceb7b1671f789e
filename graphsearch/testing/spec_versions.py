"""Versions, which readers use to cache derived data, and the vectors that it is derived from."""

from __future__ import annotations

import numpy as np

from graphsearch.model import Batch, ElementKind, ElementRef, Memory, Outcome, RelationType
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import mention, person, relation, view
from graphsearch.testing.spec import StoreSpec

ADA, BOB, EVE = person("Ada"), person("Bob"), person("Eve")
KNOWS = relation(ADA, BOB, fact="Ada knows Bob.")


class VersionsSpec(StoreSpec):
    """`version`, `vectors`."""

    async def test_a_version_moves_with_what_is_written_and_with_nothing_else(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA, BOB), relations=(KNOWS,)))
        seen = [await store.version()]
        assert await store.version() == seen[0]
        await store.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.RELATION, str(KNOWS.id))])
        await store.settle()
        assert await store.version() == seen[0]
        await store.write(Batch(relations=(relation(ADA, BOB, fact="Ada has known Bob for years."),)))
        seen.append(await store.version())
        await store.register_types([RelationType(name="knows", prior=0.5)])
        seen.append(await store.version())
        await store.write(
            Batch(
                memories=(Memory(id="m", text="Eve"),),
                entities=(EVE,),
                mentions=(mention(Memory(id="m", text="Eve"), EVE),),
            )
        )
        seen.append(await store.version())
        await store.forget(["m"])
        seen.append(await store.version())
        merge = await store.merge(BOB.id, ADA.id)
        seen.append(await store.version())
        await store.undo_merge(merge.id)
        seen.append(await store.version())
        await store.delete(entities=[BOB.id])
        seen.append(await store.version())
        assert len(set(seen)) == len(seen)

    async def test_a_scope_made_again_has_another_version(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA,)))
        first = await store.version()
        await store.remove_scope()
        await store.write(Batch(entities=(ADA,)))
        assert await store.version() != first

    async def test_vectors_come_back_by_their_keys_as_they_are_searched(self, store: GraphStore) -> None:
        given = {ADA.id: (3.0, 4.0), BOB.id: (0.0, -2.0)}
        await store.bind_embedder("model", 2)
        vectors = {key: np.array(value, np.float32) for key, value in given.items()}
        await store.write(Batch(entities=(ADA, BOB, EVE), vectors=vectors))
        hits = await store.locate([ADA.id, BOB.id, EVE.id], view=view())
        for _ in range(2):
            there = (await store.vectors(ElementKind.ENTITY, hits.keys)).tolist()
            found = dict(zip(store.entity_ids(hits.keys), there, strict=True))
            assert np.allclose(found[ADA.id], (0.6, 0.8), atol=1e-3)
            assert np.allclose(found[BOB.id], (0.0, -1.0), atol=1e-3)
            assert found[EVE.id] == [0.0, 0.0]
            await store.settle()
        assert (await store.vectors(ElementKind.ENTITY, hits.keys[:0])).shape == (0, 2)

    async def test_without_an_embedder_vectors_have_no_numbers(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA,), memories=(Memory(id="m", text="Ada"),)))
        hits = await store.locate([ADA.id], view=view())
        assert (await store.vectors(ElementKind.ENTITY, hits.keys)).shape == (1, 0)
