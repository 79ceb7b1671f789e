"""An attorney general's office over the years, and who may see what of it."""

from datetime import UTC, datetime

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Entity, Relation
from graphsearch.testing.fakes import HashEmbedder

EMBEDDER = HashEmbedder(256)
SECRET = "secret"


def person(name, **details):
    return Entity(type="person", name=name, **details)


BECERRA = person(
    "Xavier Becerra",
    description="attorney general of California",
    attributes={"term_start": 2017, "term_end": 2021},
)
HARRIS = person(
    "Kamala Harris",
    description="attorney general of California",
    attributes={"term_start": "2011-01-03", "term_end": "2017-01-03"},
)
OFFICE = Entity(type="organisation", name="Attorney General's Office", description="of California", labels=["public"])
CALIFORNIA = Entity(type="place", name="California", aliases=["Golden State"])
LONE = person("Lone Ranger")
ENTITIES = (BECERRA, HARRIS, OFFICE, CALIFORNIA, LONE)


def relation(source, type, target, **details):
    return Relation(source_id=source.id, type=type, target_id=target.id, **details)


RELATIONS = (
    relation(BECERRA, "leads", OFFICE, confidence=0.9),
    relation(HARRIS, "leads", OFFICE, confidence=0.8),
    relation(OFFICE, "located_in", CALIFORNIA, confidence=0.95),
    relation(HARRIS, "lives_in", CALIFORNIA, confidence=0.7),
    relation(HARRIS, "knows", BECERRA, confidence=0.6),
)


async def office(store, *, embedded=False, entities=ENTITIES, relations=RELATIONS):
    """An engine over it; with ``embedded`` by meaning too."""
    vectors = {}
    if embedded:
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        vectors = {each.id: EMBEDDER.vector(f"{each.name}: {each.description}") for each in entities}
    await store.write(Batch(entities=entities, relations=relations, vectors=vectors))
    return GraphSearchEngine(store=store, embedder=EMBEDDER if embedded else None)


def year(number):
    return datetime(number, 1, 1, tzinfo=UTC)
