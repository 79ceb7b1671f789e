"""Questions whose words are in the table of relations: which types they mean, and which end the name is."""

import pytest

from graphsearch.ingest.frames.table import table
from graphsearch.question.analysis import tokens
from graphsearch.question.type_profile import SOURCE, TARGET, own_table, said

TYPES = (
    "created",
    "depends_on",
    "leads",
    "lives_in",
    "member_of",
    "reports_to",
    "sponsors",
    "uses",
    "works_at",
    "works_with",
)
PERSON, COMPANY, TEAM, TOOL = ({each} for each in ("person", "organization", "team", "tool"))
BOTH = 0


def rows(type_: str) -> list[int]:
    return [TYPES.index(type_)] if type_ in TYPES else []


def meant(question: str, *names: tuple[str, set[str]]) -> dict[str, int]:
    texts = [word.text for word in tokens(question)]
    found = []
    for name, kinds in names:
        words = name.lower().split()
        start = next(at for at in range(len(texts)) if texts[at : at + len(words)] == words)
        found.append((range(start, start + len(words)), kinds))
    return {TYPES[row]: end for row, end in said(texts, found, rows, table()).items()}


@pytest.mark.parametrize(
    ("question", "name", "kinds", "type_", "end"),
    [
        ("Who's Odile's boss?", "Odile", PERSON, "reports_to", SOURCE),
        ("which bosses has Odile had", "Odile", PERSON, "reports_to", SOURCE),
        ("who is the manager of Odile", "Odile", PERSON, "reports_to", SOURCE),
        ("who does Odile answer to these days", "Odile", PERSON, "reports_to", SOURCE),
        ("who answers to Odile?", "Odile", PERSON, "reports_to", TARGET),
        ("who is on Odile's team", "Odile", PERSON, "reports_to", TARGET),
        ("who chairs Harbour Board", "Harbour Board", TEAM, "leads", TARGET),
        ("list the funders of Harbour Board", "Harbour Board", TEAM, "sponsors", TARGET),
        ("which database does Quayside run on?", "Quayside", COMPANY, "uses", SOURCE),
        ("which software is Quayside on?", "Quayside", COMPANY, "uses", SOURCE),
        ("who invented Tidegauge", "Tidegauge", TOOL, "created", TARGET),
        ("which firm did Odile come from?", "Odile", PERSON, "works_at", SOURCE),
        ("which club does Odile belong to", "Odile", PERSON, "member_of", SOURCE),
        ("where does Odile reside?", "Odile", PERSON, "lives_in", SOURCE),
        ("who works with Odile?", "Odile", PERSON, "works_with", BOTH),
    ],
)
def test_words_mean_a_type_and_an_end(question: str, name: str, kinds: set[str], type_: str, end: int) -> None:
    assert meant(question, (name, kinds)).get(type_) == end


@pytest.mark.parametrize(
    ("question", "name", "kinds"),
    [
        ("what is Odile's favourite colour?", "Odile", PERSON),
        ("who started talking about Odile", "Odile", PERSON),
        ("who is Tidegauge's boss", "Tidegauge", TOOL),
    ],
)
def test_other_words_and_kinds_that_do_not_fit_mean_nothing(question: str, name: str, kinds: set[str]) -> None:
    assert "reports_to" not in meant(question, (name, kinds))


def test_a_verb_belongs_to_the_name_beside_it() -> None:
    found = meant("who does Odile answer to at Quayside?", ("Odile", PERSON), ("Quayside", COMPANY))
    assert found["reports_to"] == SOURCE


@pytest.mark.parametrize(
    ("question", "names", "type_", "end"),
    [
        ("who do Odile and Bram answer to?", "Odile Bram", "reports_to", SOURCE),
        ("who reports to Odile or Bram?", "Odile Bram", "reports_to", TARGET),
        ("where do Odile, Bram and Wen live?", "Odile Bram Wen", "lives_in", SOURCE),
        ("who is the boss of Odile, Bram and Wen?", "Odile Bram Wen", "reports_to", SOURCE),
    ],
)
def test_of_several_names_in_a_list_the_same_is_asked(question: str, names: str, type_: str, end: int) -> None:
    assert meant(question, *((name, PERSON) for name in names.split())).get(type_) == end


def test_an_end_of_which_words_allow_both_is_unknown() -> None:
    found = meant("who reports to Odile, and who does Odile report to?", ("Odile", PERSON))
    assert found["reports_to"] in (TARGET, BOTH)


def own(question: str, *types: str, name: str = "ines") -> dict[str, int]:
    """What a question says by the verbs of a scope's own types."""
    texts = [word.text for word in tokens(question)]
    at = texts.index(name)
    found = said(texts, [(range(at, at + 1), PERSON)], lambda type_: [types.index(type_)], own_table(types))
    return {types[row]: end for row, end in found.items()}


@pytest.mark.parametrize(
    ("question", "type_", "end"),
    [
        ("who does ines moor", "moors", SOURCE),
        ("which crew did ines moor", "moors", SOURCE),
        ("who moors ines", "moors", TARGET),
        ("who is mooring ines", "moors", TARGET),
        ("who is ines moored by", "moors", TARGET),
        ("which crew is moored by ines", "moors", SOURCE),
        ("what is moored by ines", "moored_by", TARGET),
        ("who moored ines", "moored_by", SOURCE),
        ("who is ines moored by", "moored_by", SOURCE),
        ("what does ines moor", "mooredBy", TARGET),
        ("what is part of ines", "is part of", TARGET),
        ("what is moored at ines", "moored at", TARGET),
        ("who does ines complain about", "complained_about", SOURCE),
        ("what does ines fail over to", "fails_over_to", SOURCE),
    ],
)
def test_the_own_types_of_a_scope_are_verbs_too(question: str, type_: str, end: int) -> None:
    assert own(question, type_) == {type_: end}


@pytest.mark.parametrize(
    ("question", "type_"),
    [
        ("the crew ines moors", "moors"),
        ("moors does ines", "moors"),
        ("who moors in ines", "moors"),
        ("what does ines moor in", "moors"),
        ("who moored ines", "moored at"),
        ("who works with ines", "works with"),
        ("who is of ines", "of"),
    ],
)
def test_another_order_or_preposition_says_nothing_of_them(question: str, type_: str) -> None:
    assert own(question, type_) == {}


def test_a_name_with_a_verb_of_its_own_is_no_object_of_an_earlier_one() -> None:
    assert own("who is mooring the boat that ines made", "moors") == {"moors": BOTH}
    assert meant("who uses the winch Odile made", ("Odile", PERSON)).get("uses", BOTH) == BOTH


def test_verbs_of_the_table_may_end_with_another_preposition() -> None:
    assert meant("which tool did Quayside leave us for", ("Quayside", COMPANY))
