"""Names that a question writes as nobody is called."""

from uuid import UUID

import pytest

from graphsearch.model import Entity, Relation
from graphsearch.modes.options import SearchMode
from graphsearch.query.written_names import Named, NameKind
from graphsearch.understanding.linking import Linked, Nameable
from graphsearch.understanding.name_lookup import FITS, LIKE, NAMESAKES, likeness, links_of, unlinked
from graphsearch.understanding.question_tokens import tokens
from graphsearch.understanding.type_profile import Wording
from tests.gates import no_secrets
from tests.understanding.harbour import ENTITIES, RELATIONS, lines, names, told

SILENT = Wording(naming={}, telling={}, type_terms=frozenset())


def name_at(text, start, end):
    return Named(text=text, start=start, end=end, kind=NameKind.PROPER_NOUN)


def called(*given, kind="person", number=1):
    return Nameable(id=UUID(int=number), type=kind, names=given)


@pytest.mark.parametrize(
    ("written", "kind", "name"),
    [
        ("Liz", "person", "Elizabeth Quill"),
        ("Liz", "rower", "Elizabeth Quill"),  # a given name tells that this is a person
        ("O. Quill", "person", "Orla Quill"),
        ("@oquill", "person", "Orla Quill"),
        ("Orlla Quill", "person", "Orla Quill"),
        ("HSB", "organisation", "Hallam Ship Builders"),
        ("HSB", "yard", "Hallam Ship Builders"),
        ("Hallam Chandlers Limited", "organisation", "Hallam Chandlers Ltd"),
    ],
)
def test_other_forms_of_a_name_fit(written, kind, name):
    assert likeness(written, called(name, kind=kind)) == FITS


def test_names_of_several_words_may_be_nearly_alike():
    assert LIKE <= likeness("Prya Sharma", called("Priya Sharma")) < FITS
    assert likeness("Abbey Bridge", called("Mill Bridge", kind="bridge")) == 0.0
    assert likeness("Buoy 14", called("Buoy 15", kind="buoy")) == 0.0
    assert likeness("Prya", called("Priya", kind="boat")) == 0.0  # one word alone may be another


def test_an_alias_has_other_forms_too():
    assert likeness("Liz", called("The Skipper", "Elizabeth Quill")) == FITS


def test_namesakes_share_and_too_many_are_nobody():
    name = name_at("Liz", 0, 3)
    two = [called(f"Elizabeth {last}", number=number) for number, last in enumerate(("Quill", "Roe"), 1)]
    assert [each.probability for each in links_of(name, two)] == pytest.approx([FITS * 0.5**0.5] * 2)
    many = [called(f"Elizabeth {last}", number=number) for number, last in enumerate("ABCDEF", 1)]
    assert len(many) > NAMESAKES
    assert links_of(name, many) == []
    assert links_of(name, []) == []


def test_nicknames_in_small_letters_are_looked_for_unless_the_scope_uses_the_word():
    words = tokens("does bob pay the bill for Liz")
    nothing = Linked(links=(), masked=(False,) * len(words))
    liz = name_at("Liz", 26, 29)
    assert unlinked(words, [liz], nothing, SILENT) == [liz, name_at("bob", 5, 8), name_at("bill", 17, 21)]
    used = Wording(naming={}, telling={"bill": 3}, type_terms=frozenset())
    assert unlinked(words, [liz], nothing, used) == [liz, name_at("bob", 5, 8)]


async def test_nicknames_initials_and_slips_name_entities_in_every_mode(scoped):
    people = [Entity(type="person", name="Elizabeth Pascoe"), Entity(type="organisation", name="Hallam Ship Builders")]
    leads = Relation(
        source_id=people[0].id, type="leads", target_id=ENTITIES["Terns"].id, fact="Elizabeth Pascoe leads the Terns"
    )
    owned = Relation(
        source_id=people[1].id,
        type="owned_by",
        target_id=ENTITIES["Wen Carlyon"].id,
        fact="Hallam Ship Builders is owned by Wen Carlyon",
    )
    engine = await told(scoped, entities=[*ENTITIES.values(), *people], relations=[*RELATIONS, leads, owned])
    for mode in (SearchMode.GRAPH_COMPLETION, SearchMode.NEIGHBORHOOD):
        for question, found in {
            "which crew does Liz lead?": "leads",
            "which crew does lizzie lead?": "leads",
            "who is HSB owned by?": "owned_by",
            "which crew does Elizabth Pascoe lead?": "leads",
        }.items():
            answer = await engine.search(question, mode=mode)
            assert [each[1] for each in lines(answer)][:1] == [found], (question, mode, answer.reason)
            assert len(answer.anchors) == 1


async def test_a_name_in_another_form_is_looked_for_behind_the_gate(scoped):
    liz = Entity(type="person", name="Elizabeth Pascoe", labels=["secret"])
    leads = Relation(
        source_id=liz.id, type="leads", target_id=ENTITIES["Terns"].id, fact="Elizabeth Pascoe leads the Terns"
    )
    engine = await told(scoped, entities=[*ENTITIES.values(), liz], relations=[*RELATIONS, leads])

    found = await engine.search("which crew does Liz lead?", gate=no_secrets())
    assert (names(found), found.anchors, found.reason) == ([("Liz", [])], (), "nothing is known of Liz")
