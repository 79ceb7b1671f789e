"""A harbour with lights, the crews that keep them, and people, for questions in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest.write.writer import embed_facts
from graphsearch.model import Batch, Entity, Relation
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import Embedder
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.bm25 import embedding_text

HASHED = HashEmbedder(128)

KINDS = {
    "person": "Tamsin Roe|Jory Pascoe|Wen Carlyon|Orla Quill|Orla Brennan|Ines Vale|Moss Teague",
    "crew": "Gannets|Petrels|Terns",
    "light": "North Light|Cobb Light|Skerry Beacon",
    "place": "Brackwater|Lowmouth",
    "choir": "Quay Singers",
    "shop": "Hallam Chandlers|Trewin Stores",
}
ALIASES = {"Ines Vale": ["Birdie"], "Hallam Chandlers": ["HC"]}
FACTS = """
Tamsin Roe|leads|Gannets|Tamsin Roe leads the Gannets
Jory Pascoe|leads|Petrels|Jory Pascoe leads the Petrels
Wen Carlyon|leads|Terns|Wen Carlyon leads the Terns
Tamsin Roe|mentors|Jory Pascoe|Tamsin Roe mentors Jory Pascoe
Jory Pascoe|mentors|Moss Teague|Jory Pascoe mentors Moss Teague
Orla Quill|rows_for|Gannets|Orla Quill rows for the Gannets
Moss Teague|rows_for|Petrels|Moss Teague rows for the Petrels
Ines Vale|rows_for|Terns|Ines Vale rows for the Terns
North Light|kept_by|Gannets|North Light is kept by the Gannets
Cobb Light|kept_by|Petrels|Cobb Light is kept by the Petrels
Skerry Beacon|kept_by|Terns|Skerry Beacon is kept by the Terns
Orla Quill|lives_in|Brackwater|Orla Quill lives in Brackwater
Ines Vale|lives_in|Lowmouth|Ines Vale lives in Lowmouth
Tamsin Roe|lives_in|Lowmouth|Tamsin Roe lives in Lowmouth
Orla Brennan|sings_in|Quay Singers|Orla Brennan sings in the Quay Singers
Moss Teague|sings_in|Quay Singers|Moss Teague sings in the Quay Singers
North Light|supplied_by|Hallam Chandlers|Hallam Chandlers brings paraffin to North Light
Cobb Light|supplied_by|Trewin Stores|Trewin Stores brings paraffin to Cobb Light
Wen Carlyon|duty_b|Skerry Beacon|Wen Carlyon polishes the lenses of Skerry Beacon
Moss Teague|duty_b|Cobb Light|Moss Teague polishes the lenses of Cobb Light
"""

ENTITIES = {
    name: Entity(type=kind, name=name, aliases=ALIASES.get(name, []))
    for kind, names in KINDS.items()
    for name in names.split("|")
}


def related(source: str, type: str, target: str, fact: str = "", **details) -> Relation:
    """A relation between two of the harbour's entities, by name."""
    return Relation(source_id=ENTITIES[source].id, type=type, target_id=ENTITIES[target].id, fact=fact, **details)


RELATIONS = tuple(related(*line.split("|")) for line in FACTS.strip().splitlines())


def year(number: int) -> datetime:
    """The first moment of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


@cache
def meaning() -> WordLlamaEmbedder:
    """The embedder for tests in which words mean something, loaded once."""
    return WordLlamaEmbedder()


async def harbour_engine(
    store: GraphStore,
    *,
    embedder: Embedder | None = HASHED,
    entities: Sequence[Entity] = tuple(ENTITIES.values()),
    relations: Sequence[Relation] = RELATIONS,
    facts: bool = True,
    **parts,
) -> GraphSearchEngine:
    """An engine over a store with all of it; ``facts`` False leaves the facts without vectors."""
    vectors = {}
    if embedder is not None:
        await store.bind_embedder(embedder.name, embedder.dimensions)
        rows = await embedder.embed([embedding_text(each) for each in entities], input_type="document")
        vectors = dict(zip([each.id for each in entities], rows, strict=True))
    await store.write(Batch(entities=entities, relations=relations, vectors=vectors))
    if embedder is not None and facts:
        await embed_facts(store, embedder)
    return GraphSearchEngine(store=store, embedder=embedder, **parts)


def lines(found: SearchResult) -> list[tuple[str, str, str]]:
    """The triplets of an answer, best first."""
    return [(each.source.name, each.relation.type, each.target.name) for each in found.triplets]


def names(found: SearchResult) -> list[tuple[str, list[str]]]:
    """The names that a question was understood to have, with what they may mean, in order of the names."""
    assert found.interpretation is not None
    called = {entity.id: name for name, entity in ENTITIES.items()}
    return [(each.written, sorted(called[id_] for id_ in each.entities)) for each in found.interpretation.names]
