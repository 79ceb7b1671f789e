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
    ("place", "Lüdershagen", "Luedershagen"),
    ("city", "Tromsø", "Tromsoe"),
    ("place", "Saint-Étienne", "St. Etienne"),
    ("place", "Newcastle upon Tyne", "Newcastle-upon-Tyne"),
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
    ("concept", "tide index", "tide indices"),
    ("concept", "criterion", "criteria"),
    ("person", "Kantor Jan Wick", "Kantor Jan Wick (tenor)"),
    ("person", "Maestro Carlo Ricci", "Carlo Ricci"),
    ("person", "mgr inż. Jan Nowak", "Jan Nowak"),
    ("person", "JUDr. Ivana Malá", "Ivana Malá"),
    ("person", "Avv. Carlo Ricci", "Carlo Ricci"),
    ("person", "Univ.-Prof. Dr. Ute Brandt", "Ute Brandt"),
    ("person", "Staff Nurse Agnes Moor", "Agnes Moor"),
    ("person", "matron Agnes Moor", "Agnes Moor"),
    ("person", "The Rt. Hon. Owen Pryce", "Owen Pryce"),
    ("person", "Sgt. Maj. Owen Pryce", "Owen Pryce"),
    ("person", "Fire Chief Owen Pryce", "Owen Pryce"),
    ("person", "Moor, Agnes", "Sister Agnes Moor"),
    ("organisation", "Harrow Fire Brigade", "the Harrow Fire Brigade"),
    ("project", "Project Spring Concert", "the Spring Concert project"),
    ("file", "scores\\alto.pdf", "./scores//alto.pdf"),
    ("file", "rota/june/../july.csv", "rota/july.csv"),
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
    ("concept", "new", "news"),
    ("concept", "len", "lens"),
    ("place", "Sint-Niklaas", "St. Pauls"),
    ("concept", "The Sirens", "siren"),
    ("person", "Wm. Henry Moor", "Henry Moor"),
    ("person", "James Bishop Carter", "Carter James"),
    ("person", "Agnes Moor", "Agnes Moors"),
    ("person", "Duke Harrow", "Duke Wick"),
    ("person", "Ivana Malá", "Ivan Malý"),
    ("person", "Alex. Graham Bell", "Graham Bell"),
    ("organisation", "Harrow Fire Brigade", "Harrow Brass Band"),
    ("organisation", "Ward 4 North", "Ward 4 South"),
    ("organisation", "VG", "Vineyard Growers"),
    ("place", "Engine House 2", "Engine House 12"),
    ("place", "South Slope", "South Slip"),
    ("project", "Spring Concert", "Autumn Concert"),
    ("tool", "Pump 3", "Pump 13"),
    ("file", "scores/alto.pdf", "scores/alto.mid"),
    ("file", "README.md", "scores/README.md"),
]
TRIPLES = [
    ("person", "Agnes Moor", "Agnes Wick", "Agnes", 3),
    ("person", "Agnes Moor", "Sister Agnes Moor", "Agnes", 1),
    ("person", "Owen Pryce", "Bryn Pryce", "Pryce", 3),
    ("person", "Owen Pryce", "Bryn Moor", "Pryce", 2),
    ("person", "Robert Ricci", "Roberta Ricci", "Ricci", 3),
    ("person", "Robert Ricci", "Roberta Moor", "Bob", 2),
    ("organisation", "Vineyard Growers Union", "Valley Garage Unlimited", "VGU", 3),
    ("organisation", "Vineyard Growers Union", "Harrow Fire Brigade", "VGU", 2),
    ("file", "choir/rota.csv", "brigade/rota.csv", "rota.csv", 3),
    ("file", "choir/rota.csv", "brigade/shifts.csv", "rota.csv", 2),
]


"""Two names and a third that may be short for either, with the number of entities."""


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


@pytest.mark.parametrize(("type", "one", "other", "short", "entities"), TRIPLES)
async def test_a_short_name_is_that_of_one_alone(type, one, other, short, entities):
    assert await count(type, one, other, short) == await count(type, other, one, short) == entities


@pytest.mark.parametrize(
    ("type", "one", "other", "short", "entities"), [each for each in TRIPLES if each[0] in ("person", "file")]
)
async def test_who_was_called_so_first_is_not_meant_later(type, one, other, short, entities):
    assert await count(type, one, short, other, short) == max(entities, await count(type, one, short, other))
