"""The names of the memories of a call."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ingest.reading.names import name_in_slices
from graphsearch.model.extracted import KnownName
from graphsearch.names.known_names import KnownNames


def find_names(texts, speakers, titles=(), known=None):
    """Each text with its names, all slices in a row."""
    steps = name_in_slices(texts, speakers, titles, known)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def names(text, *, speaker="", title="", known=(), among=()):
    """The names of a text, with those of others of its call in mind."""
    texts = [*among, text]
    titles = [*[""] * len(among), title]
    read = find_names(texts, [speaker] * len(texts), titles, KnownNames(known))[-1]
    return {each.name: each.kind for each in read.mentions}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday Nadia Verhoef met Tobias Lindqvist.", {"Nadia Verhoef": "person", "Tobias Lindqvist": "person"}),
        ("We asked Abd al-Karim about it.", {"Abd al-Karim": None}),
        ("Quantrel sponsors Velmora.", {"Quantrel": None, "Velmora": None}),
        ("The notes of Walter R. Pym are lost.", {"Walter R. Pym": "person"}),
        ("She married Jan van der Velde in spring.", {"Jan van der Velde": "person"}),
        ("June Hollis gave the talk.", {"June Hollis": "person"}),
        ("I saw Dr. Okonkwo today.", {"Dr. Okonkwo": "person"}),
        ("She studied at the University of Bergen.", {"University of Bergen": "organisation"}),
        ("He left the Ministry of Health.", {"Ministry of Health": "organisation"}),
        ("They meet at St Anne's Hospital, Ward 7.", {"St Anne's Hospital": "organisation", "Ward 7": None}),
        ("We play in the Five Rivers Stadium.", {"Five Rivers Stadium": "place"}),
        ("Nadia joined the Harbour Working Group.", {"Nadia": "person", "Harbour Working Group": "group"}),
        ("Nadia leads the Beacon team.", {"Nadia": "person", "Beacon team": "group"}),
        ("Nadia works at the Varley brewery.", {"Nadia": "person", "Varley brewery": "organisation"}),
        ("Ask Nadia Verhoef.", {"Nadia Verhoef": "person"}),
        ("Nadia left Varley Foods.", {"Nadia": "person", "Varley Foods": "organisation"}),
        ('I am reading "The Slow Tide" now.', {"The Slow Tide": "thing"}),
        ('They finished "A Tide Comes to Varley." last week.', {"A Tide Comes to Varley": "thing"}),
        ("May Orwin leads it.", {"May Orwin": None}),
        ("Skip Harlow leads it.", {"Skip Harlow": None}),
        ("We spoke to José Ángel de la Cruz.", {"José Ángel de la Cruz": "person"}),
        ("It is by R. S. P. Okafor.", {"R. S. P. Okafor": "person"}),
        ("It was named after Georg Simon Ohm.", {"Georg Simon Ohm": "person"}),
        ("2031 Harbour Plan belongs to Nadia Verhoef.", {"2031 Harbour Plan": None, "Nadia Verhoef": "person"}),
        ("We paid Invoice 42-B on Friday.", {"Invoice 42-B": None}),
        ("He works at the Varley Museum of Glass.", {"Varley Museum of Glass": "organisation"}),
        ("We sailed to the Isle of Man.", {"Isle of Man": "place"}),
        ("She runs the Velmora Food and Drink Commission.", {"Velmora Food and Drink Commission": "group"}),
        ("They left the Velmora Institute of Trade and Growth.", {"Velmora Institute of Trade and Growth": None}),
        ("We buy from Varley Foods, Inc. now.", {"Varley Foods, Inc.": "organisation"}),
        ("Norwegian Ada Verhoef won.", {"Ada Verhoef": "person"}),
        ("Varley-based Velmora Foods won.", {"Velmora Foods": "organisation"}),
        ("I met my hon. Friend today.", {}),
        ("We asked Foreign Minister Tobias Lindqvist.", {"Tobias Lindqvist": "person"}),
        ("We eat at Panda Express.", {"Panda Express": None}),
        ("It was on Varley TQZ.", {"Varley TQZ": ""}),
        ("We read Verhoef & Lindqvist again.", {"Verhoef & Lindqvist": ""}),
    ],
)
def test_names_are_whole_and_of_a_kind(text, expected):
    found = names(text)
    assert [*found] == [*expected]
    assert all(kind in (None, found[name]) for name, kind in expected.items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i work at varley brewery with nadia", {"varley brewery", "nadia"}),
        ("nadia verhoef lives in bergen now", {"nadia verhoef", "bergen"}),
        ("she sings at lamplight playhouse", {"lamplight playhouse"}),
        ("the garden committee meets on monday", {"garden committee"}),
        ("dr okonkwo called", {"dr okonkwo"}),
    ],
)
def test_names_in_small_letters(text, expected):
    assert {*names(text, speaker="mo")} == expected


@pytest.mark.parametrize(
    "text",
    [
        "Status: Open",
        "## Open Questions",
        "Next Steps:",
        "Wow, Great Job Team!",
        "THIS IS NOT WHAT WE ORDERED",
        "Hello! Thanks a lot. Haha, yes. Hmm.",
        "Woah! Yesss, I know.",
        "On Monday I was ill, and in May too.",
        "I'm late, OK? I'll call Mom.",
        "The Director told the Board about the API.",
        "Will you call me?",
        "He scored 45KB in Q3.",
        "We went withHall and finishedD it.",
        "/____/ is a drawing",
        "Open Settings. Click Save.",
    ],
)
def test_capitals_of_other_kinds_name_nothing(text):
    assert names(text, speaker="Mo Diallo") == {}


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "app.py", line 3, in Run\nValueError: No Such Vendor',
        "ERROR Billing Gateway refused Varley Foods",
        "```\nconst VarleyClient = new Client(Nadia)\n```",
        '{"owner": "Nadia Verhoef"}',
    ],
)
def test_what_machines_wrote_names_nothing(text):
    assert names(text) == {}


def test_a_text_that_cannot_be_read_has_known_names_alone():
    german = (
        "Gestern haben wir mit dem Vorstand über die neue Halle gesprochen und danach sind alle zum Essen gegangen."
    )
    assert names(german) == {}
    known = [KnownName(name="Halle", type="place"), KnownName(name="李雷", type="person")]
    assert names(german, known=known) == {"Halle": "place"}
    assert names("我和李雷一起工作。", known=known) == {"李雷": "person"}


def test_known_names_are_found_in_any_case():
    known = [
        KnownName(name="Beacon Portal", type="project", aliases=("the beacon",)),
        KnownName(name="Zed", type="person"),
    ]
    found = names("ask zed about THE BEACON PORTAL, the beacon", known=known)
    assert found == {"Zed": "person", "Beacon Portal": "thing", "beacon": "thing"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we moved from mysql to postgres", {"MySQL", "postgres"}),
        ("we use excel for that", {"excel"}),
        ("we moved everything to notion", {"Notion"}),
        ("It is all in Notion.", {"Notion"}),
        ("i have no notion of it", set()),
        ("the teams excel at chess", set()),
        ("We run it with GitHub Actions.", {"GitHub Actions"}),
    ],
)
def test_tools_that_are_ordinary_words_need_a_cue(text, expected):
    assert {*names(text)} == expected


def test_a_name_of_one_memory_is_found_in_the_others():
    among = ["We bought it from Tidewright.", "Tidewright is slow today."]
    assert "tidewright" in names("is tidewright down again?", among=among)


def test_an_author_who_writes_capitals_writes_names_with_them():
    among = ["We went to Bergen.", "It was cold there.", "Nadia came along."]
    assert names("Look, a nice zoodle.", speaker="Nadia", among=among) == {}


def test_short_names_are_declared():
    reads = find_names(["call me dilly", "dilly left"], ["Dilys Prothero", "Mo Diallo"])
    assert reads[0].same == (("dilly", "Dilys Prothero"),)
    assert [each.name for each in reads[1].mentions] == ["dilly"]
    assert reads[1].mentions[0].kind == "person"


@pytest.mark.parametrize("text", ["it is known as heavy water", "they call it metallic", "he goes by the rules"])
def test_no_ordinary_word_is_declared_where_nobody_speaks(text):
    assert names(text) == {}


@pytest.mark.parametrize("text", ["i play badmington there", "my athelete days", "lololol ok"])
def test_mistyped_words_are_no_names(text):
    assert names(text, speaker="mo diallo") == {}


@pytest.mark.parametrize(
    ("texts", "faint"),
    [
        (["we joined the swim team"], [True]),
        (["i like velmora", "yes"], [True]),
        (["i like velmora", "is velmora far?"], [False, False]),
        (["Velmora joined Varley Foods."], [False, False]),
    ],
)
def test_a_guess_that_stands_once_is_faint(texts, faint):
    reads = find_names(texts, ["mo diallo"] * len(texts))
    assert [each.faint for read in reads for each in read.mentions] == faint


def test_the_first_word_of_a_firm_is_short_for_it():
    reads = find_names(["We asked Tidewright Foods.", "Tidewright is late."], ["Mo Diallo"] * 2)
    assert reads[1].same == (("Tidewright", "tidewright foods"),)


def test_ordinary_words_that_recur_bare_are_a_name():
    texts = ["we use moth garden for orders", "moth garden needs a database", "ask about moth garden"]
    reads = find_names(texts, ["mo diallo"] * 3)
    assert [[each.name for each in read.mentions] for read in reads] == [["moth garden"]] * 3


def test_nationalities_are_names_that_state_nothing():
    (read,) = find_names(["A Danish engineer built it."], [""])
    assert ([each.name for each in read.aside], read.mentions) == (["Danish"], [])


def test_addresses_paths_and_code_have_a_type():
    (read,) = find_names(["@mo put `load_all()` into src/app.py, see https://example.org/a."], [""])
    assert [(each.name, each.type) for each in read.mentions] == [
        ("@mo", "person"),
        ("load_all()", "function"),
        ("src/app.py", "file"),
        ("https://example.org/a", "url"),
    ]


def test_the_subject_of_a_document_is_found_as_it_is_written():
    assert "Cold Comfort" in names("In Cold Comfort nobody speaks.", title="Cold Comfort (film)")


@pytest.mark.parametrize(
    "part", ["Abc ", "A", "Bank of the ", "call me Ab ", "Ab for short ", '"', "(", "`a ", "/a/", " ", "dr "]
)
def test_hostile_texts_take_their_share_of_time(part):
    find_names(["Nadia"], [""])
    taken = []
    for size in (40_000, 160_000):
        start = time.process_time()
        find_names([part * (size // len(part))], ["Mo"])
        taken.append(time.process_time() - start)
    assert taken[1] < 12 * taken[0] + 0.5


@given(st.lists(st.text(max_size=60) | st.sampled_from(["Ada Moss", "the Beacon team.", "call me Bo", '"A B"'])))
def test_mentions_of_any_texts_are_in_order_and_apart(texts):
    for read in find_names(texts, ["Ana"] * len(texts)):
        edges = [edge for each in read.mentions for edge in (each.first, each.end)]
        assert edges == sorted(edges)
        assert all(each.name.strip() for each in read.mentions)
