"""Whom a project means by "the user": who is configured, or who introduces themselves in a session."""

from __future__ import annotations

import asyncio

import pytest

from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.model import Memory
from tests.ingest.reading.reading import AT


def stated(*texts: str, session: str = "s", speaker: str = "user", user: str = "") -> set[tuple[str, str, str]]:
    memories = [
        Memory(id=str(place), text=text, speaker=speaker, session_id=session, position=place, occurred_at=AT)
        for place, text in enumerate(texts)
    ]
    found = asyncio.run(TextExtractor(user=user).extract(memories))
    return {
        (each.source.name, each.type, each.target.name)
        for extracted in found
        for each in extracted.statements
        if each.type != "co_occurs"
    }


@pytest.mark.parametrize(
    "introduction",
    ["I'm Leila Haddad, hello.", "My name is Leila Haddad.", "Hi, Leila Haddad here.", "Leila Haddad here."],
)
def test_who_introduces_themselves_is_the_user_of_the_session(introduction: str) -> None:
    found = stated(introduction, "I work at Corvid Labs.")
    assert found == {("Leila Haddad", "works_at", "Corvid Labs")}


@pytest.mark.parametrize(
    "introduction", ["I'm Tired.", "I'm German.", "I'm here on Monday.", "My name is nobody's business."]
)
def test_what_is_no_name_introduces_nobody(introduction: str) -> None:
    assert stated(introduction, "I work at Corvid Labs.") == set()


def test_a_user_with_two_names_or_without_a_session_has_none() -> None:
    assert stated("My name is Leila Haddad.", "My name is Jo Berg.", "I work at Corvid Labs.") == set()
    assert stated("My name is Leila Haddad.", "I work at Corvid Labs.", session="") == set()
    assert stated("My name is Leila.", "I'm Leila Haddad.", "I work at Corvid Labs.") == {
        ("Leila Haddad", "works_at", "Corvid Labs")
    }


def test_the_user_is_who_is_configured() -> None:
    assert stated("I work at Corvid Labs.", user="Ada Moss") == {("Ada Moss", "works_at", "Corvid Labs")}
    told = stated("The user works at Corvid Labs and likes tea.", speaker="", user="Ada Moss")
    assert told == {("Ada Moss", "works_at", "Corvid Labs")}
    assert stated("A user clicks a button.", speaker="", user="Ada Moss") == set()
