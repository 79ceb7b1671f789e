"""The entities of triplets in the order in which they answer, by hand."""

import attrs

from graphsearch.model import Entity, Relation, Triplet, TripletScore
from graphsearch.scoring.ends import ends

UNSCORED = TripletScore(
    value=0.0,
    strength=0.0,
    confidence=0.0,
    freshness=0.0,
    prior=0.0,
    proximity=0.0,
    importance=0.0,
    feedback=0.0,
    proximity_part=0.0,
    importance_part=0.0,
    feedback_part=0.0,
    hops=0,
)
BY_NAME = {name: Entity(type="person", name=name) for name in ("Ada", "Bob", "Cyd", "Dan", "Eve")}


def triplet(source, target, value):
    one, other = BY_NAME[source], BY_NAME[target]
    relation = Relation(source_id=one.id, type="knows", target_id=other.id)
    return Triplet(source=one, relation=relation, target=other, breakdown=attrs.evolve(UNSCORED, value=value))


def names(*triplets, named=(), subjects=()):
    found = ends(
        [triplet(*each) for each in triplets],
        named={BY_NAME[name].id for name in named},
        subjects=[BY_NAME[name].id for name in subjects],
    )
    return [entity.name for entity in found]


def test_what_is_not_named_answers_first():
    assert names(("Ada", "Bob", 0.9), ("Cyd", "Ada", 0.8), named=["Ada"]) == ["Bob", "Cyd", "Ada"]


def test_a_line_between_two_names_is_about_both():
    assert names(("Ada", "Bob", 0.9), ("Ada", "Cyd", 0.5), named=["Ada", "Bob"]) == ["Ada", "Bob", "Cyd"]


def test_what_is_on_the_way_to_the_answer_counts_half():
    assert names(("Bob", "Cyd", 0.9), ("Ada", "Bob", 0.4), named=["Ada"]) == ["Cyd", "Bob", "Ada"]
    assert names(("Bob", "Cyd", 0.4), ("Ada", "Bob", 0.9), named=["Ada"]) == ["Bob", "Cyd", "Ada"]
    assert names(("Cyd", "Dan", 0.9), ("Bob", "Cyd", 0.8), ("Ada", "Bob", 0.1), named=["Ada"]) == (
        ["Dan", "Cyd", "Bob", "Ada"]
    )


def test_what_no_name_leads_to_stands_in_reading_order():
    assert names(("Ada", "Bob", 0.9), ("Cyd", "Dan", 0.9)) == ["Ada", "Bob", "Cyd", "Dan"]
    assert names(("Cyd", "Dan", 0.9), ("Ada", "Bob", 0.5), named=["Ada"]) == ["Cyd", "Dan", "Bob", "Ada"]


def test_subjects_come_first_in_their_own_order_where_a_triplet_shows_them():
    shown = names(("Ada", "Bob", 0.9), ("Cyd", "Dan", 0.8), subjects=["Dan", "Eve", "Bob"])
    assert shown == ["Dan", "Bob", "Ada", "Cyd"]


def test_no_triplets_have_no_ends():
    assert names(subjects=["Ada"]) == []
