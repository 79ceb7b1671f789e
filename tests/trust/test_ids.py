"""Ids tell no name and no type that only hidden memories use, however they came in: an attacker with a dictionary."""

import json
import random
import re
from itertools import product

import pytest

from graphsearch import CedarAuthorizer, GraphSearchEngine, Ingestor, Principal
from graphsearch.ingest import IngestOptions
from graphsearch.integrations.mcp import GraphService, Identity
from graphsearch.model import Batch, Entity
from graphsearch.model.identity import entity_id
from graphsearch.operations.operation import Profile
from graphsearch.stores.memory import InMemoryGraphStore
from tests.tools import Tool

FIRST = ("Ada", "Anna", "Bob", "Carla", "Cid", "Dana", "Eva", "Fay")
LAST = ("Winter", "Summer", "Hill", "Lake", "Stone", "Moss", "Okafor", "Fischer")
TYPES = ("person", "thing", "organisation", "place", "tool", "project", "file", "module", "function", "class")
MADE_OF = (*FIRST, *LAST, *(" ".join(pair) for pair in product(FIRST, LAST)), "nightfall", "nightfall.ledger.post")
NAMES = (*MADE_OF, *(f"{name} ?" for name in MADE_OF))
DICTIONARY = {str(entity_id(type_, name)): (type_, name) for type_ in TYPES for name in NAMES}
HIDDEN = ("{} was dismissed for fraud.", "{} works at Nightfall Holdings.", "Dr. {} treats the CEO.", "I met {}.")
VISIBLE = (
    "I gave {} some tea.",
    "Ask {} about lunch.",
    "Our colleague, {}, works at Globex.",
    "I saw {} with Zoe Quist.",
)


def service(store, who, **attributes):
    engine = GraphSearchEngine(store=store)
    served = GraphService(engine_of=lambda _: engine, authorizer=CedarAuthorizer.default(), profile=Profile.ALL)
    principal = Principal(id=who, projects=[store.scope], attributes=attributes)
    caller = served.caller(Identity(principal, store.scope))

    async def call(tool, **arguments):
        return await Tool(tool).run(caller, arguments)

    return call


def owner(store):
    return service(store, "ada", role="editor", see_private=True, clearance="restricted")


async def shown_to_a_viewer(store):
    """All ids in answers to somebody who may only read, without a label."""
    call, found = service(store, "vic"), ""
    for name in (*FIRST, *LAST):
        entities = await call("search_entities", query=name)
        found += json.dumps(entities)
        if entities["entities"]:
            found += json.dumps(await call("search", query=f"What does {name} do?", mode="neighborhood"))
    return set(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", found))


def inverted(ids):
    return [DICTIONARY[each] for each in ids if each in DICTIONARY]


@pytest.mark.parametrize("seed", range(2))
async def test_what_was_named_first_by_a_hidden_note_or_turn(scoped, seed):
    rng, call = random.Random(seed), owner(scoped)  # noqa: S311 - no secret
    people = [f"{first} {rng.choice(LAST)}" for first in rng.sample(FIRST, 3)]
    for name in people:
        hidden = rng.choice(HIDDEN).format(name)
        if rng.random() < 0.5:
            await call("remember", text=hidden, labels=["private"])
        else:
            await call("remember", turns=[{"content": hidden, "role": "user"}], session_id=name, labels=["private"])
    for name in people:
        await call("remember", text=rng.choice(VISIBLE).format(name.split()[rng.choice([0, 0, 1])]))
    ids = await shown_to_a_viewer(scoped)
    assert ids
    assert inverted(ids) == []


async def test_what_files_name(scoped, tmp_path):
    carla = {"type": "person", "name": "Carla Moss"}
    lines = [
        {"memory": {"id": "h", "labels": ["private"], "mentions": [{"entity": carla, "surface": "Carla Moss"}]}},
        {"memory": {"id": "v", "text": "Carla", "mentions": [{"entity": carla, "surface": "Carla"}]}},
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "code.py").write_text("import nightfall\n\n\ndef pay():\n    nightfall.ledger.post()\n")
    await Ingestor(GraphSearchEngine(store=scoped)).add(tmp_path)
    assert not {str(each.id) for each in await scoped.list_entities()} & DICTIONARY.keys()
    assert len(await scoped.list_entities()) == len({"Carla Moss", "code", "code.pay", "nightfall"})
    assert (await Ingestor(GraphSearchEngine(store=scoped)).add(tmp_path)).changed == 0


class Redactor:
    name = "names"

    def redact(self, text):
        return text.replace("Moss", "***")


async def test_what_is_redacted(scoped, tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"entity": {"type": "person", "name": "Carla Moss"}}))
    engine = GraphSearchEngine(store=scoped)
    await Ingestor(engine, options=IngestOptions(redact=Redactor())).add(tmp_path)
    [carla] = await scoped.list_entities()
    assert (carla.name, str(carla.id) in DICTIONARY) == ("Carla ***", False)


@pytest.mark.parametrize("first", ["application", "ingest"])
async def test_an_application_and_ingest_find_each_other_by_name(scoped, first):
    call, own = owner(scoped), Entity(type="person", name="Carla Moss", description="An actress.")
    if first == "application":
        await scoped.write(Batch(entities=[own]))
    await call("remember", text="Carla Moss works at Globex.")
    await scoped.write(Batch(entities=[own]))
    await call("remember", text="Carla Moss lives in Oslo.")
    [carla] = [each for each in await scoped.list_entities() if "Carla" in each.name and not each.merged_into]
    assert (carla.id, carla.description) == (own.id, "An actress.")
    assert {each.type for each in await scoped.list_relations(entity_id=own.id)} >= {"works_at", "lives_in"}


async def test_ids_are_stable_and_each_store_and_organisation_has_its_own(scoped):
    async def carla(store):
        await owner(store)("remember", text="Carla Moss works at Globex.")
        return next(each.id for each in await store.list_entities() if each.name == "Carla Moss")

    once = await carla(scoped)
    [memory] = await scoped.list_memories()
    await scoped.forget([memory.id])
    assert await scoped.list_entities() == []
    assert await carla(scoped) == once
    one, other = InMemoryGraphStore(), InMemoryGraphStore()
    scopes = [store.with_scope(org_id=org, project_id="web") for store in (one, other) for org in ("acme", "globex")]
    ids = [once, *[await carla(each) for each in scopes]]
    assert len(set(ids)) == len(ids)
