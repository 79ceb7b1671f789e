"""Each recipe of the policy cookbook loads, and hides what it describes from the principals it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphsearch.access.gate import Gate, resource_of
from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Action, Batch, Claim, Entity, Memory, Mention, Principal
from graphsearch.modes.result import SearchMode, SearchRequest
from graphsearch.ranking.recall_result import RecallRequest
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore

RECIPES = Path(__file__).parents[2] / "examples" / "policies"
BASE = RECIPES / "members.cedar"


@pytest.fixture
def store() -> GraphStore:
    return InMemoryGraphStore().with_scope(org_id="acme", project_id="web")


def memory(id: str, text: str, *, labels: tuple[str, ...] = (), **attributes: str) -> Memory:
    return Memory(id=id, text=text, labels=labels, attributes=attributes)


def entity(name: str, *, labels: tuple[str, ...] = (), **attributes: str) -> Entity:
    return Entity(type="project", name=name, labels=labels, attributes=attributes)


async def write_statements(store: GraphStore, statements: Mapping[Memory, tuple[Entity, str, Entity] | None]) -> None:
    """Write memories, and the statement of each."""
    claims = [
        Claim(memory_id=each.id, source_id=what[0].id, type=what[1], target_id=what[2].id, confidence=0.9)
        for each, what in statements.items()
        if what is not None
    ]
    ends = {end.id: end for what in statements.values() if what is not None for end in (what[0], what[2])}
    mentions = [
        Mention(memory_id=claim.memory_id, entity_id=id_, surface=ends[id_].name)
        for claim in claims
        for id_ in (claim.source_id, claim.target_id)
    ]
    await store.write(Batch(entities=ends.values(), memories=statements.keys(), claims=claims, mentions=mentions))


async def seen(store: GraphStore, recipe: str, principal: Principal, about: str) -> tuple[set[str], set[str]]:
    """The memories and the triplets that somebody is shown of a name."""
    authorizer = CedarAuthorizer.from_files([BASE, RECIPES / recipe])
    gate = Gate(authorizer, principal)
    found, recalled = await GraphSearchEngine(store=store).search_and_recall(
        SearchRequest(about, mode=SearchMode.NEIGHBORHOOD, limit=50, gate=gate),
        RecallRequest(about, limit=50, gate=gate),
    )
    triplets = {f"{each.source.name} {each.relation.type} {each.target.name}" for each in found.triplets}
    return {each.memory.id for each in recalled.memories}, triplets


def member(store: GraphStore, name: str, type: str = "User", **attributes: object) -> Principal:
    return Principal(id=name, type=type, attributes=attributes, projects=(store.scope,))


@pytest.mark.parametrize("recipe", sorted(path.name for path in RECIPES.glob("*.cedar") if path != BASE))
async def test_every_recipe_loads_and_asks_by_signature(store, recipe):
    authorizer = CedarAuthorizer.from_files([BASE, RECIPES / recipe])
    assert authorizer.by_signature, "thousands of elements are asked about at once"
    await write_statements(store, {memory("m", "Atlas uses Postgres."): (entity("Atlas"), "uses", entity("Postgres"))})
    assert await seen(store, recipe, member(store, "ada"), "Atlas") == ({"m"}, {"Atlas uses Postgres"})
    assert await seen(store, recipe, Principal(id="stranger"), "Atlas") == (set(), set())


def test_the_cookbook_names_every_recipe() -> None:
    readme = (RECIPES / "README.md").read_text()
    assert [path.name for path in RECIPES.glob("*.cedar") if f"]({path.name})" not in readme] == []


async def test_all_recipes_can_be_combined(store):
    authorizer = CedarAuthorizer.from_files(sorted(RECIPES.glob("*.cedar")))
    plain, ada, eve = memory("m", "Atlas."), member(store, "ada"), member(store, "eve", role="editor")
    for principal, action, may in (
        (ada, Action.READ, True),
        (ada, Action.FEEDBACK, True),
        (ada, Action.WRITE, False),
        (eve, Action.WRITE, True),
        (eve, Action.FORGET, True),
    ):
        gate = Gate(authorizer, principal).bind(store.scope, action)
        assert await gate.permits([resource_of(plain)]) == [may]


async def test_private_entities_are_for_their_owner_and_for_those_who_may_see_them(store):
    atlas, secret = entity("Atlas"), entity("Skunkworks", labels=("private",), owner="ada")
    statements = {
        memory("m1", "Atlas uses Postgres."): (atlas, "uses", entity("Postgres")),
        memory("m2", "Skunkworks uses Atlas."): (secret, "uses", atlas),
    }
    await write_statements(store, statements)
    all_of_it = {"Atlas uses Postgres", "Skunkworks uses Atlas"}
    for principal, triplets in (
        (member(store, "ada"), all_of_it),
        (member(store, "bob"), {"Atlas uses Postgres"}),
        (member(store, "eve", see_private=True), all_of_it),
    ):
        memories, shown = await seen(store, "private_entities.cedar", principal, "Atlas")
        assert shown == triplets
        assert memories == {"m1", "m2"}, "a text that names a private entity is hidden by a label of its own"


async def test_code_is_shown_unless_the_recipe_for_underscores_hides_it(store, tmp_path):
    (tmp_path / "m.py").write_text("class Atlas:\n    def _hide(self): ...\nclass _Map(Atlas): ...\n")
    await Ingestor(GraphSearchEngine(store=store)).add(tmp_path)
    every = {"m defines m.Atlas", "m.Atlas defines m.Atlas._hide", "m defines m._Map", "m._Map inherits_from m.Atlas"}
    question, gate = "what is Atlas?", Gate(CedarAuthorizer.default(), member(store, "bob"))
    found = await GraphSearchEngine(store=store).search(question, mode=SearchMode.NEIGHBORHOOD, gate=gate)
    assert {f"{each.source.name} {each.relation.type} {each.target.name}" for each in found.triplets} == every
    assert not any(found.denied.values())
    assert (await seen(store, "underscore_names.cedar", member(store, "bob"), question))[1] == {"m defines m.Atlas"}
    assert (await seen(store, "underscore_names.cedar", member(store, "eve", see_private=True), question))[1] == every


@pytest.mark.parametrize(
    ("label", "may"), [("private", False), ("secret", False), ("personal", False), ("underscore", True)]
)
async def test_by_default_only_labels_that_say_so_hide(store, label, may):
    gate = Gate(CedarAuthorizer.default(), member(store, "bob")).bind(store.scope)
    assert await gate.permits([resource_of(entity("Atlas", labels=(label,)))]) == [may]


async def test_a_clearance_opens_its_level_and_those_below(store):
    atlas, levels = entity("Atlas"), ("internal", "confidential", "restricted", "confidental")
    statements = {
        memory(level, "Atlas is said to change.", sensitivity=level): (atlas, "uses", entity(f"Part {level}"))
        for level in levels
    }
    await write_statements(store, {**statements, memory("open", "Atlas is open."): None})
    for principal, memories in (
        (member(store, "ada"), {"open", "internal"}),
        (member(store, "bob", clearance="confidential"), {"open", "internal", "confidential"}),
        (member(store, "eve", clearance="restricted"), {"open", "internal", "confidential", "restricted"}),
        (member(store, "bot", "Agent"), {"open"}),
        (member(store, "robot", "Agent", clearance="internal"), {"open", "internal"}),
    ):
        shown, triplets = await seen(store, "sensitivity_levels.cedar", principal, "Atlas")
        assert shown == memories
        assert triplets == {f"Atlas uses Part {level}" for level in memories - {"open"}}, "and so do their relations"


async def test_what_is_a_teams_is_for_that_team(store):
    atlas = entity("Atlas")
    statements = {
        memory("search", "Atlas is slow.", labels=("team", "team:search")): (atlas, "uses", entity("Index")),
        memory("sales", "Atlas sells.", labels=("team", "team:sales")): (atlas, "has", entity("Price")),
        memory("nobody", "Atlas is lost.", labels=("team",)): None,
        memory("all", "Atlas is blue."): None,
    }
    await write_statements(store, statements)
    for principal, memories, triplets in (
        (member(store, "ada", team="team:search"), {"all", "search"}, {"Atlas uses Index"}),
        (member(store, "bob", team="team:sales"), {"all", "sales"}, {"Atlas has Price"}),
        (member(store, "eve"), {"all"}, set()),
    ):
        assert await seen(store, "per_team.cedar", principal, "Atlas") == (memories, triplets)


async def test_a_memory_with_an_owner_is_for_that_owner_alone(store):
    atlas = entity("Atlas")
    statements = {
        memory("hers", "Atlas bores me.", owner="ada"): (atlas, "bores", entity("Ada")),
        memory("his", "Atlas is great.", owner="bob"): None,
        memory("ours", "Atlas ships in May."): (atlas, "ships_in", entity("May")),
    }
    await write_statements(store, statements)
    for principal, memories, triplets in (
        (member(store, "ada"), {"hers", "ours"}, {"Atlas bores Ada", "Atlas ships_in May"}),
        (member(store, "bob"), {"his", "ours"}, {"Atlas ships_in May"}),
    ):
        assert await seen(store, "owner_only_memories.cedar", principal, "Atlas") == (memories, triplets)
