"""Questions about a small package: the relation that is asked for comes first, on every store."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.modes.result import SearchMode
from graphsearch.testing.fakes import HashEmbedder

PACKAGE = {
    "__init__.py": "from ._client import *\n",
    "_client.py": (
        '"""Clients."""\nfrom .errors import Gone\nfrom . import table\n\n'
        "class Base:\n    def send(self): ...\n\n"
        'class Client(Base):\n    """Makes requests."""\n'
        "    def get(self):\n        return self.send()\n"
        "    def find(self):\n        raise Gone\n"
        "    def use(self, cookies): ...\n\n"
        "class _Quiet(Client):\n    def get(self):\n        try: self.find()\n        except Gone: return gather()\n\n"
        "def gather(): ...\n"
    ),
    "errors.py": "class Gone(LookupError): ...\n",
    "table.py": "class Table:\n    def render(self): ...\n    def add_row(self): ...\n",
}


@pytest.fixture(scope="module")
async def engine(kept, tmp_path_factory):
    folder = tmp_path_factory.mktemp("code") / "pkg"
    folder.mkdir()
    for name, source in PACKAGE.items():
        (folder / name).write_text(source)
    engine = GraphSearchEngine(store=kept, embedder=HashEmbedder(16))
    await Ingestor(engine).add(folder)
    return engine


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what calls Base.send?", "pkg._client.Client.get calls pkg._client.Base.send"),
        ("what does Client.get call?", "pkg._client.Client.get calls pkg._client.Base.send"),
        ("who calls gather?", "pkg._client._Quiet.get calls pkg._client.gather"),
        ("what does pkg.Client inherit from?", "pkg._client.Client inherits_from pkg._client.Base"),
        ("which classes inherit from Client?", "pkg._client._Quiet inherits_from pkg._client.Client"),
        ("what is the base class of errors.Gone?", "pkg.errors.Gone inherits_from LookupError"),
        ("what does Client.find raise?", "pkg._client.Client.find raises pkg.errors.Gone"),
        ("what catches Gone?", "pkg._client._Quiet.get catches pkg.errors.Gone"),
        ("which modules import the table module of pkg?", "pkg._client imports pkg.table"),
        ("where is Client defined?", "pkg._client defines pkg._client.Client"),
        ("what does _Quiet raise?", "pkg._client defines pkg._client._Quiet"),
        ("where is the table rendered?", "pkg.table.Table defines pkg.table.Table.render"),
    ],
)
async def test_the_asked_relation_comes_first(engine, question, first):
    found = await engine.search(question)
    triplet = found.triplets[0]
    assert f"{triplet.source.name} {triplet.relation.type} {triplet.target.name}" == first


async def test_without_a_model_of_meaning_too(engine):
    found = await engine.search("what calls Base.send?", mode=SearchMode.NEIGHBORHOOD)
    assert [found.triplets[0].source.name, found.triplets[0].relation.type] == ["pkg._client.Client.get", "calls"]


async def test_what_is_asked_for_by_name_ranks_first_among_entities(engine):
    ranked = await engine.rank_entities("what calls Base.send?")
    assert ranked.entities[0].entity.name == "pkg._client.Client.get"
