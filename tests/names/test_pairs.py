"""Pairs of names, in the manner of record linkage: what names alone can decide, whichever comes first."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.stores.memory import InMemoryGraphStore

ONE = [
    ("file", "./docs/plan.md", "docs/plan.md"),
    ("person", "Jürgen Vogel", "Juergen Vogel"),
    ("person", "Søren Bjørk", "Soeren Bjoerk"),
    ("person", "Yūko Ōta", "Yuko Ota"),
    ("place", "Großenhain", "Grossenhain"),
    ("person", "Prof. Dr. med. Karl Weiss", "Karl Weiss"),
    ("person", "Dr. rer. nat. Ute Brandt", "Ute Brandt"),
    ("person", "Admiral Ines Duarte", "Ines Duarte"),
    ("person", "Sra. Lucía Pardo", "Lucía Pardo"),
    ("person", "Rabbi Noa Stern", "Noa Stern"),
    ("person", "Cllr. Amit Rao", "Amit Rao"),
    ("organisation", "St. Brigid Hospital", "Saint Brigid Hospital"),
    ("organisation", "Northwind Ltd", "Northwind"),
    ("project", "Plan for the Harbour", "Harbour Plan"),
    ("project", "Restoration of the Pier", "Pier Restoration"),
    ("concept", "feature flag", "feature flags"),
    ("concept", "soil analysis", "soil analyses"),
    ("concept", "grain delivery", "grain deliveries"),
    ("concept", "tide box", "tide boxes"),
]
TWO = [
    ("project", "Line 4", "Line 14"),
    ("tool", "Model 3", "Model 3s"),
    ("project", "Phase II", "Phase III"),
    ("place", "Dock 7", "Dock 17"),
    ("tool", "Kestrel 8b", "Kestrel 8"),
    ("file", "src/a/plan.md", "src/b/plan.md"),
    ("person", "Don Miller", "Miller Ray"),
    ("person", "Anna Berg", "Anne Berg"),
    ("organisation", "HL", "Harrow Logistics"),
    ("project", "Harbour Plan", "Harbour Plant"),
    ("concept", "glass", "glas"),
    ("concept", "The Sirens", "siren"),
]


class Names:
    """Reads each memory as one name."""

    name = "names/1"

    def __init__(self, type):
        self.type = type

    async def extract(self, memories):
        return [
            ExtractedMemory(
                memory_id=each.id,
                surfaces=(ExtractedName(name=each.text, type=self.type, span=None, confidence=0.9, pattern="name"),),
            )
            for each in memories
        ]


async def count(type, *names):
    """The entities that the names are resolved to, each remembered by itself."""
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    ingestor = Ingestor(GraphSearchEngine(store=store), extractor=Names(type))
    for number, name in enumerate(names):
        await ingestor.remember([Memory(id=str(number), text=name)])
    return len(await store.list_entities())


@pytest.mark.parametrize(("type", "one", "other"), ONE)
async def test_one_entity(type, one, other):
    assert await count(type, one, other) == await count(type, other, one) == 1


@pytest.mark.parametrize(("type", "one", "other"), TWO)
async def test_two_entities(type, one, other):
    assert await count(type, one, other) == await count(type, other, one) == 2
