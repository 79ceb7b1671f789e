"""A small team over a year, as an ingest would write it, and who may see which parts of it."""

from __future__ import annotations

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Entity, Memory, Principal, Span
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import claim, day, mention, person

SECRET = "secret"
ADA, BOB, EVE = person("Ada Lovelace"), person("Bob Noyce"), person("Eve Curie")
ACME, GLOBEX = (Entity(type="organisation", name=name) for name in ("Acme", "Globex"))
PARIS = Entity(type="place", name="Paris", importance_weight=0.9)
ENTITIES = (ADA, BOB, EVE, ACME, GLOBEX, PARIS)

HIRED = Memory(
    id="hired", text="Ada works at Acme. Bob works at Acme.", session_id="s1", source="notes", occurred_at=day(10)
)
MOVED = Memory(id="moved", text="Ada joined Globex.", session_id="s2", source="chat", occurred_at=day(50))
HOME = Memory(id="home", text="Ada lives in Paris, says Bob.", session_id="s2", source="chat", occurred_at=day(60))
AGAIN = Memory(id="again", text="Ada knows Bob.", session_id="s1", source="notes", occurred_at=day(70))
FRIENDS = Memory(id="friends", text="The Countess knows Bob well.", session_id="s3", source="chat", occurred_at=day(90))
MEMORIES = (HIRED, MOVED, HOME, AGAIN, FRIENDS)

MENTIONS = (
    mention(HIRED, ADA, surface="Ada", span=Span(start=0, end=3)),
    mention(HIRED, ACME),
    mention(HIRED, BOB, surface="Bob"),
    mention(MOVED, ADA, surface="Ada"),
    mention(MOVED, GLOBEX),
    mention(HOME, ADA, surface="Ada"),
    mention(HOME, PARIS),
    mention(AGAIN, ADA, surface="Ada"),
    mention(AGAIN, BOB, surface="Bob"),
    mention(FRIENDS, ADA, surface="Countess"),
    mention(FRIENDS, BOB, surface="Bob"),
)
CLAIMS = (
    claim(HIRED, ADA, ACME, "works_at", span=Span(start=0, end=18), extractor="rules/1:works_at"),
    claim(HIRED, BOB, ACME, "works_at", span=Span(start=19, end=37), extractor="rules/1:works_at"),
    claim(MOVED, ADA, GLOBEX, "works_at", fact="Ada joined Globex.", extractor="rules/1:joined"),
    claim(HOME, ADA, PARIS, "lives_in", extractor="rules/1"),
    claim(AGAIN, ADA, BOB, "knows", confidence=0.6, span=Span(start=0, end=14), extractor="rules/1:knows"),
    claim(AGAIN, ADA, BOB, "knows", confidence=0.5, extractor="other:knows"),
    claim(FRIENDS, ADA, BOB, "knows", confidence=0.5, fact="They are friends.", extractor="rules/1:knows"),
)
BATCH = Batch(entities=ENTITIES, memories=MEMORIES, mentions=MENTIONS, claims=CLAIMS)

GREG = Principal(id="greg")


class Labels:
    """An authorizer that denies elements with a label, for one action or for all, and records its requests."""

    by_signature = False

    def __init__(self, label: str = SECRET, *, action: str | None = None) -> None:
        self.label = label
        self.action = action
        self.asked: list[tuple[str, str]] = []

    async def authorize(self, principal, action, resources, *, scope):
        assert principal.id
        self.asked += [(action.value, resource.id) for resource in resources]
        return [self.action not in (None, action.value) or self.label not in resource.labels for resource in resources]

    def asked_for(self, action: str) -> set[str]:
        return {id_ for asked, id_ in self.asked if asked == action}


async def engine_over(store: GraphStore, batch: Batch = BATCH, *, embedded: bool = False) -> GraphSearchEngine:
    """An engine over a store with a batch in it; ``embedded`` embeds its entities by their names."""
    embedder = HashEmbedder(16)
    if embedded:
        await store.bind_embedder(embedder.name, embedder.dimensions)
    await store.write(batch)
    return GraphSearchEngine(store=store, embedder=embedder if embedded else None)
