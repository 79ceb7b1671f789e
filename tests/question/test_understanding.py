"""The meaning of a question, and how people read it."""

from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.ingest import Ingestor
from graphsearch.model import Batch, Entity, Memory, Relation
from graphsearch.modes.result import SearchMode
from graphsearch.question import understanding as room
from graphsearch.question.analysis import PRESENT, QuestionText, WrittenName, asked_time
from graphsearch.question.linking import Link, Linked
from graphsearch.question.type_profile import Example, type_profile
from graphsearch.question.understanding import (
    AskedName,
    AskedRelation,
    PhraseVectors,
    QuestionVectors,
    Understanding,
    guess_residue,
    interpreted,
    with_meaning,
)
from graphsearch.testing.fakes import NOON, HashEmbedder
from graphsearch.text.analyser import ENGLISH
from tests.question.harbour import ENTITIES, RELATIONS, harbour_engine, lines, meaning, names, related, year

ONE, TWO = UUID(int=1), UUID(int=2)


def at(start, end, entity=ONE, probability=1.0):
    return Link(entity_id=entity, kind="person", probability=probability, start=start, end=end, full=True, alias=False)


def profile(*types):
    examples = [Example(type=each, source_kind="a", target_kind="b", names=(), line="", fact="") for each in types]
    return type_profile(examples, np.zeros((len(examples), 0), np.float32), ENGLISH)


def meant(question, *links, affinity=(), unknown=(), types=()):
    return Understanding(
        question=question,
        linked=Linked(links=links, masked=frozenset()),
        terms=(),
        unknown=unknown,
        profile=profile(*types),
        affinity=np.array(affinity, np.float64),
        direction={},
        kind=np.zeros(0),
        kind_asked="",
        between=(),
    )


def test_names_come_in_order_with_all_that_they_may_mean_and_the_unknown_last():
    stranger = WrittenName(text="Moss", start=0, end=4)
    found = meant("Moss, Orla and Ines", at(15, 19, TWO), at(6, 10, ONE, 0.5), at(6, 10, TWO, 0.5), unknown=(stranger,))
    assert found.names == (
        AskedName(written="Orla", start=6, end=10, entities={ONE: 0.5, TWO: 0.5}),
        AskedName(written="Ines", start=15, end=19, entities={TWO: 1.0}),
        AskedName(written="Moss", start=0, end=4, entities={}),
    )
    assert found.interpretation.names == found.names


def test_relations_asked_for_are_those_above_the_average_best_first():
    found = meant("?", affinity=[0.5, -1.0, 1.5, 0.0, 0.5], types=("bakes", "digs", "eats", "folds", "grows"))
    assert [each.type for each in found.relations()] == ["eats", "bakes", "grows"]
    assert found.relations(1) == (AskedRelation(type="eats", affinity=1.5),)
    assert found.interpretation.relations == found.relations()
    assert meant("?", affinity=[0.0, 0.0], types=("bakes", "digs")).relations() == ()


def test_the_residue_is_what_is_part_of_no_name():
    assert QuestionText("Where does Orla Quill live?").without({2, 3}) == "where does live"


def test_surely_written_is_neither_quoted_nor_a_capital_that_a_sentence_begins_with():
    found = QuestionText("Rowing “the old song” with Ines Vale: why does winch_run fail?").written
    assert [each.text for each in found] == ["Ines Vale", "winch_run"]


def test_the_guess_leaves_out_what_is_surely_a_name_or_a_time():
    assert guess_residue(QuestionText("Who did Ines Vale row for in May 2020?")) == "who did row for in"
    assert guess_residue(QuestionText("where does orla quill live")) == "where does orla quill live"
    assert guess_residue(QuestionText("what of winch_run")) == "what of"
    assert guess_residue(QuestionText("May 2020")) == ""


HOPS = SearchMode.NEIGHBORHOOD


async def first(engine, question, **options):
    found = await engine.search(question, **options)
    assert found.triplets, (question, found.reason)
    return lines(found)[0]


# -- names --------------------------------------------------------------------------------------------------------


async def test_names_in_any_case_parts_nicknames_and_possessives(scoped):
    engine = await harbour_engine(scoped)
    for question, written, meant in [
        ("where does Orla Quill live?", "Orla Quill", ["Orla Quill"]),
        ("where does orla quill live?", "orla quill", ["Orla Quill"]),
        ("WHERE DOES ORLA QUILL LIVE?", "ORLA QUILL", ["Orla Quill"]),
        ("where does tamsin live?", "tamsin", ["Tamsin Roe"]),
        ("where does Teague row?", "Teague", ["Moss Teague"]),
        ("where does Birdie live?", "Birdie", ["Ines Vale"]),
        ("what is birdie's crew?", "birdie", ["Ines Vale"]),
        ("who keeps Skerry?", "Skerry", ["Skerry Beacon"]),
        ("Tamsin's crew", "Tamsin", ["Tamsin Roe"]),
        ("which crew is Ines' one?", "Ines", ["Ines Vale"]),
        ("what does HC bring?", "HC", ["Hallam Chandlers"]),
        ("who leads the gannets?", "gannets", ["Gannets"]),
    ]:
        for mode in (SearchMode.GRAPH_COMPLETION, HOPS):
            found = await engine.search(question, mode=mode)
            assert names(found) == [(written, meant)]
            assert found.interpretation is not None
            (only,) = found.interpretation.names
            assert question[only.start : only.end] == written
            assert list(only.entities.values()) == [1.0]
            assert [anchor.entity_id for anchor in found.anchors] == list(only.entities)


async def test_an_ambiguous_first_name_stays_several_and_the_asked_relation_decides(scoped):
    engine = await harbour_engine(scoped)
    for question, expected in {
        "which crew does Orla row for?": ("Orla Quill", "rows_for", "Gannets"),
        "where does Orla live?": ("Orla Quill", "lives_in", "Brackwater"),
        "which choir does Orla sing in?": ("Orla Brennan", "sings_in", "Quay Singers"),
    }.items():
        for mode in (SearchMode.GRAPH_COMPLETION, HOPS):
            found = await engine.search(question, mode=mode)
            assert names(found) == [("Orla", ["Orla Brennan", "Orla Quill"])]
            assert found.interpretation is not None
            assert list(found.interpretation.names[0].entities.values()) == pytest.approx([0.70710678] * 2)
            assert lines(found)[0] == expected


async def test_what_is_named_and_not_known_is_reported(scoped):
    engine = await harbour_engine(scoped)
    found = await engine.search("Does Barnaby Thorn row with Moss?")
    assert names(found) == [("Moss", ["Moss Teague"]), ("Barnaby Thorn", [])]
    found = await engine.search("where does Barnaby Thorn live?")
    assert (names(found), lines(found)) == ([("Barnaby Thorn", [])], [])
    assert found.reason == "nothing visible is known of Barnaby Thorn"
    assert found.anchors == ()


async def test_a_name_that_nobody_has_is_not_answered_by_one_that_shares_a_word_of_it(scoped):
    engine = await harbour_engine(scoped)
    for question, unknown in {
        "who keeps Abbey Light?": "Abbey Light",
        "which crew does Orla Menon row for?": "Orla Menon",
        "who supplies the Skerry Lighthouse?": "Skerry Lighthouse",
    }.items():
        for mode in (SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, HOPS):
            found = await engine.search(question, mode=mode)
            assert (names(found), lines(found)) == ([(unknown, [])], []), question
            assert mode is HOPS or found.reason == f"nothing visible is known of {unknown}"


async def test_a_name_that_nobody_has_may_stand_in_a_fact(scoped):
    engine = await harbour_engine(
        scoped, relations=[*RELATIONS, related("Terns", "won", "Lowmouth", "The Terns won the Gala Cup")]
    )
    found = await engine.search("who won the Gala Cup?")
    assert (names(found), lines(found)[0]) == ([("Gala Cup", [])], ("Terns", "won", "Lowmouth"))


async def test_ordinary_words_name_nothing_for_certain(scoped):
    """Somebody is called as a word that the facts use otherwise."""
    baker = Entity(type="person", name="Paraffin")
    engine = await harbour_engine(scoped, entities=[*ENTITIES.values(), baker])
    found = await engine.search("who brings paraffin to the North Light?")
    assert found.interpretation is not None
    assert [(each.written, list(each.entities.values())) for each in found.interpretation.names] == [
        ("paraffin", [0.25]),
        ("North Light", [1.0]),
    ]
    assert lines(found)[0] == ("North Light", "supplied_by", "Hallam Chandlers")


async def test_a_word_of_a_date_names_nothing(scoped):
    may = Entity(type="person", name="May")
    engine = await harbour_engine(scoped, entities=[*ENTITIES.values(), may])
    assert [each[0] for each in names(await engine.search("who led the Terns in May 2020?"))] == ["Terns"]


async def test_a_year_that_is_part_of_a_name_is_no_time(scoped):
    race = Entity(type="race", name="Regatta 2019")
    won = Relation(source_id=ENTITIES["Terns"].id, type="won", target_id=race.id, valid_from=year(2020))
    engine = await harbour_engine(scoped, entities=[*ENTITIES.values(), race], relations=[*RELATIONS, won])
    found = await engine.search("who won Regatta 2019?")
    assert lines(found)[0] == ("Terns", "won", "Regatta 2019")
    assert found.interpretation is not None
    assert (found.interpretation.time, found.interpretation.names[0].written) == (PRESENT, "Regatta 2019")
    found = await engine.search("who won Regatta 2019 in 2018?")
    assert found.interpretation is not None
    assert (found.interpretation.time.written, lines(found)) == ("2018", [])


# -- the relation that is asked for -------------------------------------------------------------------------------


async def test_the_relation_is_asked_for_by_its_words_and_those_of_its_facts(scoped):
    engine = await harbour_engine(scoped)
    for question, expected in {
        "who leads the Gannets?": ("Tamsin Roe", "leads", "Gannets"),
        "who is leading the gannets?": ("Tamsin Roe", "leads", "Gannets"),
        "which crew is North Light kept by?": ("North Light", "kept_by", "Gannets"),
        "who polishes the lenses of Cobb Light?": ("Moss Teague", "duty_b", "Cobb Light"),
        "who brings paraffin to cobb light?": ("Cobb Light", "supplied_by", "Trewin Stores"),
    }.items():
        found = await engine.search(question)
        assert lines(found)[0] == expected
        assert found.interpretation is not None
        assert expected[1] in [each.type for each in found.interpretation.relations]
        assert all(each.affinity > 0 for each in found.interpretation.relations)
        assert lines(await engine.search(question, mode=HOPS))[0] == expected


async def test_the_relation_is_asked_for_in_other_words(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    for question, expected in {
        "What is Ines' home town?": ("Ines Vale", "lives_in", "Lowmouth"),
        "who trains Moss?": ("Jory Pascoe", "mentors", "Moss Teague"),
        "who is in charge of the Gannets?": ("Tamsin Roe", "leads", "Gannets"),
        "who delivers oil to north light?": ("North Light", "supplied_by", "Hallam Chandlers"),
        "who cleans the glass of Cobb Light?": ("Moss Teague", "duty_b", "Cobb Light"),
    }.items():
        assert await first(engine, question) == expected


async def test_names_and_nothing_else_ask_for_no_relation(scoped):
    engine = await harbour_engine(scoped)
    found = await engine.search("what of Tamsin Roe?")
    assert found.interpretation is not None
    assert (found.interpretation.relations, found.interpretation.kind) == ((), "")
    assert ("Tamsin Roe", "leads", "Gannets") in lines(found)


async def test_the_kind_that_is_asked_for_is_reported_and_counts(scoped):
    even = [
        related("Moss Teague", "knows_of", "Gannets", "known"),
        related("Moss Teague", "knows_of", "Brackwater", "known"),
        related("Moss Teague", "knows_of", "Quay Singers", "known"),
    ]
    engine = await harbour_engine(scoped, embedder=meaning(), relations=even)
    for question, kind, target in [
        ("which place does Moss know?", "place", "Brackwater"),
        ("which choir does Moss know?", "choir", "Quay Singers"),
        ("which crew does Moss know?", "crew", "Gannets"),
    ]:
        found = await engine.search(question)
        assert found.interpretation is not None
        assert found.interpretation.kind.split()[0] == kind
        assert lines(found)[0][2] == target
        assert found.triplets[0].breakdown.relevance["answer_kind"] > 0


# -- its direction ------------------------------------------------------------------------------------------------


async def test_the_order_of_words_decides_the_direction(scoped):
    engine = await harbour_engine(scoped)
    for question, expected in {
        "who does Jory mentor?": ("Jory Pascoe", "mentors", "Moss Teague"),
        "who mentors Jory?": ("Tamsin Roe", "mentors", "Jory Pascoe"),
        "who did jory pascoe mentor?": ("Jory Pascoe", "mentors", "Moss Teague"),
        "who is mentoring jory pascoe?": ("Tamsin Roe", "mentors", "Jory Pascoe"),
    }.items():
        for mode in (SearchMode.GRAPH_COMPLETION, HOPS):
            found = await engine.search(question, mode=mode)
            assert lines(found)[0] == expected
            scores = {line: each.breakdown for line, each in zip(lines(found), found.triplets, strict=True)}
            assert scores.pop(expected).relevance["direction"] == 0
            (other,) = [score for (_, type_, _), score in scores.items() if type_ == "mentors"]
            assert other.relevance["direction"] < 0


FILMS = """
Salt Line|stars|Mira Castellan
Salt Line|capital|Lisbon
Paper Moons|stars|Hanna Lind
Ruth Ambler|directed|Paper Moons
Ruth Ambler|mentors|Hanna Lind
Hanna Lind|mentors|Mira Castellan
Low Winter|filmed_in|Lisbon
"""
ASKED_FILMS = {
    "Who stars in Salt Line?": "Salt Line stars Mira Castellan",
    "Who starred in Paper Moons?": "Paper Moons stars Hanna Lind",
    "Which film stars Hanna Lind?": "Paper Moons stars Hanna Lind",
    "What does Mira Castellan star in?": "Salt Line stars Mira Castellan",
    "What is the capital of Salt Line?": "Salt Line capital Lisbon",
    "Who directed Paper Moons?": "Ruth Ambler directed Paper Moons",
    "What was directed by Ruth Ambler?": "Ruth Ambler directed Paper Moons",
    "Who mentors Hanna Lind?": "Ruth Ambler mentors Hanna Lind",
    "Who does Hanna Lind mentor?": "Hanna Lind mentors Mira Castellan",
    "What was filmed in Lisbon?": "Low Winter filmed_in Lisbon",
}


@pytest.mark.parametrize("kinds", [("film", "person", "place"), ("thing", "thing", "thing")])
async def test_both_directions_of_a_requested_relation_are_tried(scoped, kinds):
    """However the arrow runs, and whether the kinds of its ends differ or nothing is known of them."""
    film, person, place = kinds
    kind = dict.fromkeys(("Salt Line", "Paper Moons", "Low Winter"), film) | {"Lisbon": place}
    rows = [line.split("|") for line in FILMS.strip().splitlines()]
    called = {name: Entity(type=kind.get(name) or person, name=name) for row in rows for name in (row[0], row[2])}
    relations = [Relation(source_id=called[one].id, type=name, target_id=called[two].id) for one, name, two in rows]
    engine = await harbour_engine(scoped, embedder=meaning(), entities=list(called.values()), relations=relations)
    for question, expected in ASKED_FILMS.items():
        assert " ".join(await first(engine, question)) == expected


async def test_what_is_known_of_others_or_else_of_it_is_no_answer(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    await Ingestor(engine).remember(
        Memory(id=str(place), text=text)
        for place, text in enumerate(
            ["Amara's dog is called Biscuit.", "Luis works with Amara.", "Greta lives in Oslo."]
        )
    )
    for question in ("what is the name of Luis's dog?", "who is our contact at Maersk?", "what does Luis row for?"):
        assert not (await engine.search(question)).triplets, question
    assert "Biscuit" in " ".join(await first(engine, "what is the name of Amara's dog?"))


# -- the parts of it ----------------------------------------------------------------------------------------------


class Counting(HashEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self):
        super().__init__(16)
        self.asked = []

    async def embed(self, texts, *, input_type="document"):
        self.asked.append((input_type, list(texts)))
        return await super().embed(texts, input_type=input_type)


async def test_phrases_are_embedded_once_and_questions_every_time():
    embedder = Counting()
    phrases = PhraseVectors(embedder)
    rows = await phrases.of_phrases(["leads", "rows for", "leads"])
    assert rows == pytest.approx(np.array([embedder.vector(each) for each in ("leads", "rows for", "leads")]))
    await phrases.of_phrases(["rows for", "tends"])
    for _ in range(2):
        asked = await phrases.of_question("who rows for Ines Vale?")
        whole, residue, other = await asked.of("who rows for Ines Vale?", "who rows for", "who rows")
        assert whole.shape == residue.shape == other.shape == (16,)
    assert embedder.asked == [
        ("document", ["leads", "rows for"]),
        ("document", ["tends"]),
        *[("query", ["who rows for Ines Vale?", "who rows for"]), ("query", ["who rows"])] * 2,
    ]


async def test_the_texts_of_a_profile_are_embedded_once():
    embedder, scope = Counting(), profile("leads", "rows_for")
    phrases = PhraseVectors(embedder)
    rows = await phrases.of_profile(scope)
    texts = [*scope.phrases, *scope.typed, *scope.kind_phrases]
    assert rows == pytest.approx(np.array([embedder.vector(each) for each in texts]))
    assert (await phrases.of_profile(scope)).tolist() == rows.tolist()
    assert (await phrases.of_profile(profile("leads"))).shape == (4, 16)
    assert embedder.asked == [("document", list(dict.fromkeys(texts)))]


async def test_no_phrases_and_vectors_of_any_length():
    class Long(Counting):
        async def embed(self, texts, *, input_type="document"):
            self.dimensions = 2
            return np.array([[3.0, 4.0] if text else [0.0, 0.0] for text in texts], np.float32)

    phrases = PhraseVectors(Long())
    one, none = await (await phrases.of_question(" ")).of("a", "")
    assert (one.tolist(), none.tolist()) == (pytest.approx([0.6, 0.8]), [0.0, 0.0])
    assert (await phrases.of_phrases([])).shape == (0, 2)


async def test_only_so_many_phrases_are_kept(monkeypatch):
    monkeypatch.setattr(room, "KEPT", 2)
    embedder = Counting()
    phrases = PhraseVectors(embedder)
    assert (await phrases.of_phrases(["a", "b", "c"])).shape == (3, 16)
    await phrases.of_phrases(["c", "b"])
    await phrases.of_phrases(["a"])
    assert [texts for kind, texts in embedder.asked if kind == "document"] == [["a", "b", "c"], ["a"]]


def test_words_that_overlap_a_time_are_dated():
    question = "who led it in May 2020 or now"
    assert QuestionText(question).places(asked_time(question, NOON).spans) == {4, 5}
    assert QuestionText(question).places(PRESENT.spans) == frozenset()
    question = "who leads it right now"
    assert QuestionText(question).places(asked_time(question, NOON).spans) == {3, 4}


def vectors_of(question):
    return QuestionVectors(PhraseVectors(Counting()), QuestionText(question))


def reading_of(question, *masked, known=None, types=(), time=PRESENT):
    asked = QuestionText(question)
    linked = Linked(links=(), masked=frozenset(at for at, text in enumerate(asked.texts) if text in masked))
    return interpreted(asked, linked, known or profile(*types), ENGLISH, time=time)


def test_what_is_left_of_a_question_has_no_names_and_no_times():
    question = "who led the Gannets in 2020"
    read = reading_of(question, "gannets", time=asked_time(question, NOON))
    assert (read.residue, read.terms, read.kind_asked) == ("who led the in", ("led",), "person human individual")


async def test_nothing_left_to_ask_for_makes_no_type_likelier():
    read = reading_of("what of the gannets", "gannets", types=("leads", "rows_for"))
    meant = await with_meaning(read, vectors_of(read.question))
    assert meant.affinity.tolist() == [0.0, 0.0]
    assert meant.relations() == ()
    assert meant.vector is not None


async def test_without_an_embedder_or_words_nothing_is_embedded():
    blank = await with_meaning(reading_of("  ", types=("leads",)), vectors_of("  "))
    assert blank.vector is None
    wordy = await with_meaning(reading_of("who leads", types=("leads", "rows_for")), None)
    assert wordy.vector is None
    assert wordy.affinity.tolist() == [1.0, -1.0]
    assert wordy.kind.tolist() == [0.0, 0.0]


def test_kinds_between_are_those_named_besides_the_one_asked_for():
    assert reading_of("which b leads the a of it", types=("leads",)).between == ()  # "a" is no term
    boats = Example(type="leads", source_kind="life_boat", target_kind="keeper", names=(), line="", fact="")
    kinds = type_profile([boats, attrs.evolve(boats, target_kind="boats")], np.zeros((2, 0), np.float32), ENGLISH)
    assert kinds.kinds == ("boats", "keeper", "life_boat")
    assert reading_of("which keeper has the boat", known=kinds).between == (0, 2)


async def test_another_embedder_of_the_engine_embeds_anew(scoped):
    engine = await harbour_engine(scoped, embedder=HashEmbedder(32))
    assert await first(engine, "who leads the Gannets?") == ("Tamsin Roe", "leads", "Gannets")
    other = Counting()
    other.name, other.dimensions = "hash-of-words-32", 32
    engine.embedder = other
    assert await first(engine, "who leads the Gannets?") == ("Tamsin Roe", "leads", "Gannets")
    assert [kind for kind, _ in other.asked] == ["query", "query", "document", "document"]


async def test_a_question_is_embedded_once_before_it_is_read_and_what_was_not_guessed_once_more(scoped):
    engine = await harbour_engine(scoped, embedder=HashEmbedder(32))
    engine.embedder = Counting()
    engine.embedder.name, engine.embedder.dimensions = "hash-of-words-32", 32
    for question, asked in {
        "who does Jory Pascoe mentor?": [["who does Jory Pascoe mentor?", "who does mentor"]],
        "who does jory mentor?": [["who does jory mentor?", "who does jory mentor"], ["who does mentor"]],
    }.items():
        engine.embedder.asked.clear()
        assert await first(engine, question) == ("Jory Pascoe", "mentors", "Moss Teague")
        assert [texts for kind, texts in engine.embedder.asked if kind == "query"] == asked


async def test_a_graph_without_relations_is_understood_too(scoped):
    engine = await harbour_engine(scoped, relations=[])
    found = await engine.search("who leads the Gannets?")
    assert (names(found), lines(found)) == ([("Gannets", ["Gannets"])], [])
    assert found.interpretation is not None
    assert found.interpretation.relations == ()
    await scoped.write(
        Batch(
            relations=[Relation(source_id=ENTITIES["Moss Teague"].id, type="leads", target_id=ENTITIES["Gannets"].id)]
        )
    )
    assert lines(await engine.search("who leads the Gannets?")) == [("Moss Teague", "leads", "Gannets")]
