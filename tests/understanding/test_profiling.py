"""The profile of a scope's relation types: what it is read from, and how long it is kept."""

import attrs
import numpy as np
import pytest

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.reader import reading
from graphsearch.model import Batch, Claim, Memory, Principal, RelationType
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import NOON, FixedClock
from graphsearch.understanding import profiling
from graphsearch.understanding.profiling import ProfileCache, read_profile
from graphsearch.understanding.type_profile import EXAMPLES
from tests.gates import no_secrets
from tests.graphs import days_ago, edge, people, person
from tests.understanding.harbour import HASHED, RELATIONS, lines, related, told

SECRET = "secret"


class Forbids:
    """An authorizer that hides what has a label of the principal's own id."""

    def __init__(self, *, policy_version="1", by_signature=True):
        self.by_signature = by_signature
        if policy_version:
            self.policy_version = policy_version

    async def authorize(self, principal, action, resources, *, scope):
        return [principal.id not in resource.labels for resource in resources]


def gate_of(store, who=SECRET, **options):
    return Gate(Forbids(**options), Principal(id=who, projects=[store.scope]))


async def profile_of(store, gate=None, **view):
    async with reading(store, gate=gate, **view) as reader:
        return await read_profile(reader)


async def kept(cache, store, gate=None, known_at=None, **view):
    async with reading(store, gate=gate, known_at=known_at, **view) as reader:
        return await cache.profile(reader, gate, known_at)


# -- what it is read from -----------------------------------------------------------------------------------------


async def test_types_facts_and_vectors_of_what_is_stored(scoped):
    await told(scoped)
    profile = await profile_of(scoped)
    assert profile.types == (
        "duty_b",
        "kept_by",
        "leads",
        "lives_in",
        "mentors",
        "rows_for",
        "sings_in",
        "supplied_by",
    )
    assert profile.typed[1] == "light kept by crew"
    assert profile.kinds == ("choir", "crew", "light", "person", "place", "shop")
    assert profile.examples == len(RELATIONS)
    assert {"polish", "lens", "paraffin"} <= profile.postings.keys()
    assert profile.vectors.shape == (len(RELATIONS), HASHED.dimensions)
    of_leads = profile.vectors[profile.example_type == profile.row_of("leads")]
    expected = [HASHED.vector(each.fact) for each in RELATIONS if each.type == "leads"]
    assert np.sort(of_leads, axis=0) == pytest.approx(np.sort(expected, axis=0), abs=1e-3)  # kept in half precision


async def test_aliases_are_names_too(scoped):
    await told(scoped, relations=[related("Ines Vale", "leads", "Terns", "Birdie leads the Terns")])
    profile = await profile_of(scoped)
    assert profile.wording.naming["birdie"] == 1
    assert profile.wording.telling["birdie"] == 0


async def test_what_once_held_counts_and_what_was_not_known_does_not(scoped):
    await told(
        scoped,
        relations=[
            related("Orla Quill", "rows_for", "Gannets", valid_to=days_ago(500)),
            related("Orla Quill", "leads", "Gannets", created_at=days_ago(5)),
            related("Orla Quill", "mentors", "Ines Vale", confidence=0.3),
        ],
    )
    assert (await profile_of(scoped)).types == ("leads", "rows_for")
    assert (await profile_of(scoped, as_of=days_ago(9))).types == ("leads", "rows_for")
    assert (await profile_of(scoped, known_at=days_ago(6))).types == ()  # the entities were written after that
    assert (await profile_of(scoped, min_edge_confidence=0.2)).types == ("leads", "mentors", "rows_for")


async def test_a_scope_without_relations_has_an_empty_profile(scoped):
    await told(scoped, relations=[])
    assert (await profile_of(scoped)).types == ()


async def test_only_so_many_examples_of_a_type_are_read(scoped):
    many = [f"N{number:02}" for number in range(40)]
    rows = [edge("Hub", "knows", name) for name in many]
    await scoped.write(people(*rows, edge("N01", "owes", "N02"), names=" ".join(["Hub", *many])))
    profile = await profile_of(scoped)
    assert np.bincount(profile.example_type).tolist() == [EXAMPLES, 1]


async def test_what_is_hidden_shapes_no_profile(scoped):
    secret = {"labels": (SECRET,)}
    hidden = [
        related("Orla Quill", "owes", "Moss Teague", "Orla Quill owes a ransom", **secret),
        related("Orla Quill", "leads", "Terns", "Orla Quill commands the Terns", **secret),
    ]
    await told(scoped, relations=[*RELATIONS, *hidden])
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="bare")
    await told(other)
    bare = await profile_of(other)
    for gate in (no_secrets(by_signature=False), gate_of(scoped)):
        profile = await profile_of(scoped, gate)
        for field in ("types", "phrases", "typed", "kinds", "wording", "examples", "containing"):
            assert getattr(profile, field) == getattr(bare, field)
        assert profile.meets.tolist() == bare.meets.tolist()
        assert profile.vectors.tolist() == bare.vectors.tolist()
        assert {term: weights.tolist() for term, (_, weights) in profile.postings.items()} == {
            term: weights.tolist() for term, (_, weights) in bare.postings.items()
        }
    assert "owes" in (await profile_of(scoped)).types


async def test_past_many_that_are_hidden_examples_are_still_found(scoped, monkeypatch):
    monkeypatch.setattr(profiling, "SAMPLED", 4)
    hidden = [edge("Hub", f"hides{number}", f"N{number}", labels=(SECRET,)) for number in range(9)]
    shown = [edge("Hub", f"shows{number}", f"N{number}") for number in range(3)]
    names = " ".join(["Hub", *(f"N{number}" for number in range(9))])
    await scoped.write(people(*hidden, *shown, names=names))
    assert (await profile_of(scoped, no_secrets(by_signature=False))).types == ("shows0", "shows1", "shows2")
    assert len((await profile_of(scoped)).types) == 4  # of all that may be seen, no more are looked at


async def test_the_search_for_examples_ends(scoped, monkeypatch):
    monkeypatch.setattr(profiling, "SAMPLED", 1)
    hidden = [edge("Hub", f"hides{number}", "End", labels=(SECRET,)) for number in range(20)]
    await scoped.write(people(*hidden, names="Hub End"))
    assert (await profile_of(scoped, no_secrets(by_signature=False))).types == ()


async def test_a_sentence_that_a_hidden_memory_made_has_no_vector(scoped):
    old, new = Memory(id="old", occurred_at=days_ago(9)), Memory(id="new", occurred_at=days_ago(1), labels=[SECRET])
    one = Claim(
        memory_id="old",
        source_id=person("Ada"),
        type="met",
        target_id=person("Bob"),
        fact="Ada met Bob",
        confidence=0.8,
    )
    other = attrs.evolve(one, memory_id="new", fact="Ada robbed Bob")
    plain = attrs.evolve(one, type="paid", fact="Ada paid Bob")
    batch = Batch(entities=people(names="Ada Bob").entities, memories=(old, new), claims=(one, other, plain))
    await scoped.write(batch)
    await scoped.bind_embedder(HASHED.name, HASHED.dimensions)
    stored = await scoped.list_relations()
    await scoped.write(Batch(vectors={each.id: HASHED.vector(each.fact) for each in stored}))
    profile = await profile_of(scoped, no_secrets(by_signature=False))
    assert profile.types == ("met", "paid")
    assert {"met", "paid"} <= profile.postings.keys()
    assert "rob" not in " ".join(profile.postings)
    by_type = dict(zip(profile.example_type.tolist(), profile.vectors, strict=True))
    assert not by_type[0].any()
    assert by_type[1].any()
    assert (await profile_of(scoped)).vectors.any(axis=1).all()


# -- how long it is kept ------------------------------------------------------------------------------------------


async def test_it_is_made_anew_when_the_scope_changes_and_only_then(scoped):
    await told(scoped)
    cache = ProfileCache(scoped)
    first = await kept(cache, scoped)
    assert await kept(cache, scoped, ALLOW_ALL) is first
    assert await kept(cache, scoped, as_of=days_ago(300)) is first
    await scoped.write(Batch(relations=[related("Moss Teague", "paints", "Cobb Light")]))
    second = await kept(cache, scoped)
    assert "paints" in second.types
    assert "paints" not in first.types
    await scoped.register_types([RelationType(name="paints", skip=True)])
    assert "paints" not in (await kept(cache, scoped)).types


async def test_one_is_kept_for_each_gate(scoped):
    rows = [related("Moss Teague", "paints", "Cobb Light", labels=(who,)) for who in ("wren",)]
    await told(scoped, relations=[*RELATIONS, *rows])
    cache = ProfileCache(scoped)
    everything = await kept(cache, scoped)
    wren = await kept(cache, scoped, gate_of(scoped, "wren"))
    finch = await kept(cache, scoped, gate_of(scoped, "finch"))
    assert "paints" not in wren.types
    assert "paints" in finch.types
    assert len({id(each) for each in (everything, wren, finch)}) == 3
    assert await kept(cache, scoped, gate_of(scoped, "wren")) is wren
    assert await kept(cache, scoped, gate_of(scoped, "wren", policy_version="2")) is not wren


async def test_none_is_kept_for_a_gate_that_cannot_be_told_from_others(scoped):
    await told(scoped)
    cache = ProfileCache(scoped)
    for gate in (
        no_secrets(by_signature=False),
        gate_of(scoped, policy_version=""),
        gate_of(scoped, by_signature=False),
    ):
        assert await kept(cache, scoped, gate) is not await kept(cache, scoped, gate)


async def test_none_is_kept_of_another_time_of_knowledge(scoped):
    await told(scoped)
    cache = ProfileCache(scoped)
    assert await kept(cache, scoped, known_at=NOON) is not await kept(cache, scoped)


async def test_one_is_kept_for_every_moment_and_knows_what_is_to_come(scoped):
    await told(scoped, relations=[*RELATIONS, related("Moss Teague", "paints", "Cobb Light", valid_from=days_ago(-9))])
    cache = ProfileCache(scoped)
    present = await kept(cache, scoped)
    assert "paints" in present.types
    assert await kept(cache, scoped, as_of=days_ago(-20)) is present


async def test_one_is_kept_for_each_least_confidence(scoped):
    await told(scoped, relations=[*RELATIONS, related("Moss Teague", "paints", "Cobb Light", confidence=0.6)])
    cache = ProfileCache(scoped)
    assert "paints" not in (await kept(cache, scoped, min_edge_confidence=0.9)).types
    assert "paints" in (await kept(cache, scoped)).types


async def test_the_longest_unused_is_let_go(scoped, monkeypatch):
    monkeypatch.setattr(profiling, "KEPT", 2)
    await told(scoped)
    cache = ProfileCache(scoped)
    one, two, three = (gate_of(scoped, who) for who in ("wren", "finch", "swift"))
    first, second = await kept(cache, scoped, one), await kept(cache, scoped, two)
    assert await kept(cache, scoped, one) is first
    await kept(cache, scoped, three)
    assert await kept(cache, scoped, one) is first
    assert await kept(cache, scoped, two) is not second


async def test_an_answer_never_rests_on_what_was_removed(scoped):
    engine = await told(scoped)
    assert lines(await engine.search("who polishes the lenses of Cobb Light?"))[0][1] == "duty_b"
    found = [each.id for each in await scoped.list_relations() if each.type == "duty_b"]
    await scoped.delete(relations=found)
    again = await engine.search("who polishes the lenses of Cobb Light?")
    assert again.asked is not None
    assert "duty_b" not in [each.type for each in again.asked.relations]
