"""The profile of a scope's relation types: what it has, what it is read from, and how long it is kept."""

from functools import partial

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.reader import reading
from graphsearch.model import Batch, Claim, Memory, Principal, RelationType
from graphsearch.question import type_profile as room
from graphsearch.question.type_profile import (
    EXAMPLES,
    Example,
    ProfileCache,
    Wording,
    masked,
    read_profile,
    type_profile,
)
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import NOON, FixedClock
from graphsearch.text.analyser import ENGLISH, VERBATIM
from tests.gates import no_secrets
from tests.graphs import days_ago, edge, people, person
from tests.question.harbour import HASHED, RELATIONS, harbour_engine, lines, related


def example(type, source="person", target="lamp", *, names=(), line="", fact=""):
    return Example(type=type, source_kind=source, target_kind=target, names=names, line=line or fact, fact=fact)


def profiled(*examples, analyser=VERBATIM):
    return type_profile(examples, np.zeros((len(examples), 0), np.float32), analyser)


KEEPERS = profiled(
    example("tends", names=("Ines", "North Light"), fact="Ines trims North Light"),
    example("tends", "crew", names=("Gulls", "North Light"), fact="the Gulls trim North Light"),
    example("tends", names=("Orla", "Pier Lamp"), fact="Orla trims Pier Lamp"),
    example("rowsFor", "person", "crew", names=("Orla", "Gulls"), fact="Orla rows for the Gulls"),
)


def test_types_and_kinds_are_in_order_and_written_in_words():
    assert KEEPERS.types == ("rowsFor", "tends")
    assert KEEPERS.phrases == ("rows for", "tends")
    assert KEEPERS.typed == ("person rows for crew", "person tends lamp")  # most have these ends
    assert KEEPERS.kinds == ("crew", "lamp", "person")
    assert KEEPERS.example_rows.tolist() == [[3, -1, -1], [0, 1, 2]]


def test_rows_are_found_by_name():
    assert [KEEPERS.row_of(each) for each in ("rowsFor", "tends", "sings")] == [0, 1, -1]
    assert [KEEPERS.kind_of(each) for each in ("crew", "person", "song")] == [0, 2, -1]


def test_which_types_entities_of_a_kind_have():
    assert KEEPERS.meets.tolist() == [[True, True], [False, True], [True, True]]


def test_of_equally_usual_ends_the_first_by_name_are_taken():
    even = profiled(example("tends", "person", "lamp"), example("tends", "crew", "lamp"))
    assert even.typed == ("crew tends lamp",)


def test_the_words_of_a_fact_without_the_names_of_its_ends():
    stated = example("tends", names=("Ines Vale", "North Light"), fact="Ines, of Vale, lights the north tower")
    assert masked(stated) == ["of", "lights", "the", "tower"]


def test_words_are_counted_as_parts_of_names_and_elsewhere():
    wording = KEEPERS.wording
    assert (wording.naming["north"], wording.telling["north"]) == (2, 0)
    assert (wording.naming["gulls"], wording.telling["gulls"]) == (2, 0)
    assert (wording.naming["trims"], wording.telling["trims"]) == (0, 2)
    assert wording.type_terms == {"rows", "for", "tends", "crew", "lamp", "person"}


def test_a_word_counts_once_a_fact():
    twice = example("tends", names=("North Light", "Cobb Light"), fact="oil and oil for North Light and Cobb Light")
    wording = profiled(twice).wording
    assert (wording.naming["light"], wording.telling["oil"], wording.telling["and"]) == (1, 1, 1)


def test_terms_of_lines_are_counted_once_a_line_and_weigh_by_their_rarity():
    lines = profiled(example("tends", line="lamp lamp oil"), example("tends", line="lamp wick"))
    assert (lines.examples, dict(lines.containing)) == (2, {"lamp": 2, "oil": 1, "wick": 1})
    rarities = lines.rarities(["lamp", "oil", "rope"])
    assert rarities == pytest.approx({"lamp": 0.18232156, "oil": 0.69314718, "rope": 1.79175947})  # ln 1.2, 2, 6


def test_a_term_weighs_by_bm25_over_the_documents_of_types():
    """Two documents of 9 and of 10 terms, whose average is taken as 1.25 ** 10, 9.3132."""
    found = profiled(
        example("tends", "a", "b", fact=""),  # three times each of: a tends b
        example("rows", "a", "b", fact="rope"),
    ).postings
    assert set(found) == {"a", "b", "tends", "rows", "rope"}
    rows, weights = found["tends"]
    # f / (f + 1.2 (0.25 + 0.75 · 9 / 9.3132)) = 3 / 4.16974, and ln 2 for one of two documents
    assert rows.tolist() == [1]
    assert weights == pytest.approx([0.69314718 * 0.71947], rel=1e-4)
    rows, weights = found["rope"]
    # 1 / (1 + 1.2 (0.25 + 0.75 · 10 / 9.3132)) = 1 / 2.26637
    assert rows.tolist() == [0]
    assert weights == pytest.approx([0.69314718 * 0.44123], rel=1e-4)
    rows, weights = found["a"]
    assert rows.tolist() == [0, 1]
    assert weights == pytest.approx([0.18232156 * 3 / 4.26637, 0.18232156 * 3 / 4.16974], rel=1e-4)


def test_no_examples_make_an_empty_profile():
    none = profiled()
    assert (none.types, none.kinds, none.postings, none.examples) == ((), (), {}, 0)
    assert none.meets.shape == (0, 0)
    assert none.row_of("tends") == none.kind_of("person") == -1


kinds = st.sampled_from(["person", "crew", "lamp"])
words = st.lists(st.sampled_from(["trims", "rows", "north", "light", "the"]), max_size=5).map(" ".join)
examples = st.lists(
    st.builds(
        Example,
        type=st.sampled_from(["tends", "rows_for", "knows"]),
        source_kind=kinds,
        target_kind=kinds,
        names=st.tuples(words, words),
        line=words,
        fact=words,
    ),
    max_size=6,
)


@given(examples, st.randoms())
def test_the_order_of_examples_does_not_matter(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    one, other = profiled(*found, analyser=ENGLISH), profiled(*shuffled, analyser=ENGLISH)
    assert (one.types, one.typed, one.kinds, one.wording) == (other.types, other.typed, other.kinds, other.wording)
    assert one.meets.tolist() == other.meets.tolist()
    assert one.postings.keys() == other.postings.keys()
    for term, (rows, weights) in one.postings.items():
        assert rows.tolist() == other.postings[term][0].tolist()
        assert weights == pytest.approx(other.postings[term][1])


@given(examples)
def test_weights_are_above_nothing(found):
    profile = profiled(*found, analyser=ENGLISH)
    for rows, weights in profile.postings.values():
        assert rows.tolist() == sorted(set(rows.tolist()))
        assert (weights > 0).all()
    assert all(rarity > 0 for rarity in profile.rarities(["trims", "rope"]).values()) or not found


LIGHTS = Wording(
    naming={"harbour": 1, "ines": 4, "crew": 3}, telling={"harbour": 3, "lamp": 2}, type_terms=frozenset({"crew"})
)


def test_the_share_of_facts_in_which_a_word_is_part_of_a_name():
    assert LIGHTS.nameness("harbour", ["harbour"]) == pytest.approx(0.25)
    assert LIGHTS.nameness("ines", ["ines"]) == 1.0
    assert LIGHTS.nameness("lamp", ["lamp"]) == 0.0


def test_a_word_of_no_fact_may_be_a_name():
    assert LIGHTS.nameness("tamsin", ["tamsin"]) == 1.0


def test_a_word_of_a_type_names_nothing_by_itself_however_it_is_used():
    assert LIGHTS.nameness("crews", ["crew"]) == 0.0
    assert LIGHTS.usage("crew") == 1.0


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
)
def test_a_share_is_a_share(naming, telling):
    wording = Wording(naming=naming, telling=telling, type_terms=frozenset())
    for word in "abc":
        assert 0.0 <= wording.nameness(word, [word]) <= 1.0


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
    opened = partial(reading, store, gate=gate, known_at=known_at, **view)
    async with opened() as reader:
        return await cache.profile(reader, gate, known_at, opened)


# -- what it is read from -----------------------------------------------------------------------------------------


async def test_types_facts_and_vectors_of_what_is_stored(scoped):
    await harbour_engine(scoped)
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
    rows = profile.example_rows[profile.row_of("leads")]
    of_leads = profile.vectors[rows[rows >= 0]]
    expected = [HASHED.vector(each.fact) for each in RELATIONS if each.type == "leads"]
    assert np.sort(of_leads, axis=0) == pytest.approx(np.sort(expected, axis=0), abs=1e-3)  # kept in half precision


async def test_aliases_are_names_too(scoped):
    await harbour_engine(scoped, relations=[related("Ines Vale", "leads", "Terns", "Birdie leads the Terns")])
    profile = await profile_of(scoped)
    assert profile.wording.naming["birdie"] == 1
    assert profile.wording.telling["birdie"] == 0


async def test_what_once_held_counts_and_what_was_not_known_does_not(scoped):
    await harbour_engine(
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
    await harbour_engine(scoped, relations=[])
    assert (await profile_of(scoped)).types == ()


async def test_only_so_many_examples_of_a_type_are_read(scoped):
    many = [f"N{number:02}" for number in range(40)]
    rows = [edge("Hub", "knows", name) for name in many]
    await scoped.write(people(*rows, edge("N01", "owes", "N02"), names=" ".join(["Hub", *many])))
    profile = await profile_of(scoped)
    assert (profile.example_rows >= 0).sum(axis=1).tolist() == [EXAMPLES, 1]


async def test_what_is_hidden_shapes_no_profile(scoped):
    secret = {"labels": (SECRET,)}
    hidden = [
        related("Orla Quill", "owes", "Moss Teague", "Orla Quill owes a ransom", **secret),
        related("Orla Quill", "leads", "Terns", "Orla Quill commands the Terns", **secret),
    ]
    await harbour_engine(scoped, relations=[*RELATIONS, *hidden])
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="bare")
    await harbour_engine(other)
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
    monkeypatch.setattr(room, "SAMPLED", 4)
    hidden = [edge("Hub", f"hides{number}", f"N{number}", labels=(SECRET,)) for number in range(9)]
    shown = [edge("Hub", f"shows{number}", f"N{number}") for number in range(3)]
    names = " ".join(["Hub", *(f"N{number}" for number in range(9))])
    await scoped.write(people(*hidden, *shown, names=names))
    assert (await profile_of(scoped, no_secrets(by_signature=False))).types == ("shows0", "shows1", "shows2")
    assert len((await profile_of(scoped)).types) == 4  # of all that may be seen, no more are looked at


async def test_the_search_for_examples_ends(scoped, monkeypatch):
    monkeypatch.setattr(room, "SAMPLED", 1)
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
    assert profile.vectors[profile.example_rows[:, 0]].any(axis=1).tolist() == [False, True]
    assert (await profile_of(scoped)).vectors.any(axis=1).all()


# -- how long it is kept ------------------------------------------------------------------------------------------


async def test_it_is_made_anew_when_the_scope_changes_and_only_then(scoped):
    await harbour_engine(scoped)
    cache = ProfileCache()
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
    await harbour_engine(scoped, relations=[*RELATIONS, *rows])
    cache = ProfileCache()
    everything = await kept(cache, scoped)
    wren = await kept(cache, scoped, gate_of(scoped, "wren"))
    finch = await kept(cache, scoped, gate_of(scoped, "finch"))
    assert "paints" not in wren.types
    assert "paints" in finch.types
    assert len({id(each) for each in (everything, wren, finch)}) == 3
    assert await kept(cache, scoped, gate_of(scoped, "wren")) is wren
    assert await kept(cache, scoped, gate_of(scoped, "wren", policy_version="2")) is not wren


async def test_none_is_kept_for_a_gate_that_cannot_be_distinguished_from_others(scoped):
    await harbour_engine(scoped)
    cache = ProfileCache()
    for gate in (
        no_secrets(by_signature=False),
        gate_of(scoped, policy_version=""),
    ):
        assert await kept(cache, scoped, gate) is not await kept(cache, scoped, gate)


async def test_none_is_kept_of_another_time_of_knowledge(scoped):
    await harbour_engine(scoped)
    cache = ProfileCache()
    assert await kept(cache, scoped, known_at=NOON) is not await kept(cache, scoped)


async def test_one_is_kept_for_every_moment_and_knows_what_is_to_come(scoped):
    await harbour_engine(
        scoped, relations=[*RELATIONS, related("Moss Teague", "paints", "Cobb Light", valid_from=days_ago(-9))]
    )
    cache = ProfileCache()
    present = await kept(cache, scoped)
    assert "paints" in present.types
    assert await kept(cache, scoped, as_of=days_ago(-20)) is present


async def test_one_is_kept_for_each_least_confidence(scoped):
    await harbour_engine(scoped, relations=[*RELATIONS, related("Moss Teague", "paints", "Cobb Light", confidence=0.6)])
    cache = ProfileCache()
    assert "paints" not in (await kept(cache, scoped, min_edge_confidence=0.9)).types
    assert "paints" in (await kept(cache, scoped)).types


async def test_the_longest_unused_is_let_go(scoped, monkeypatch):
    monkeypatch.setattr(room, "KEPT", 2)
    await harbour_engine(scoped)
    cache = ProfileCache()
    one, two, three = (gate_of(scoped, who) for who in ("wren", "finch", "swift"))
    first, second = await kept(cache, scoped, one), await kept(cache, scoped, two)
    assert await kept(cache, scoped, one) is first
    await kept(cache, scoped, three)
    assert await kept(cache, scoped, one) is first
    assert await kept(cache, scoped, two) is not second


async def test_an_answer_never_rests_on_what_was_removed(scoped):
    engine = await harbour_engine(scoped)
    assert lines(await engine.search("who polishes the lenses of Cobb Light?"))[0][1] == "duty_b"
    found = [each.id for each in await scoped.list_relations() if each.type == "duty_b"]
    await scoped.delete(relations=found)
    again = await engine.search("who polishes the lenses of Cobb Light?")
    assert again.interpretation is not None
    assert "duty_b" not in [each.type for each in again.interpretation.relations]
