"""What parts of documents state otherwise than conversations."""

from __future__ import annotations

import asyncio

from graphsearch.ingest.sources.documents import document_memories
from graphsearch.model.extracted import Statement
from tests.ingest.extract.rules.reading import EXTRACTOR


def document(text: str) -> list[Statement]:
    chunks = document_memories(text, document_id="doc", source="doc.md")
    return [each for extracted in asyncio.run(EXTRACTOR.extract(chunks)) for each in extracted.statements]


def of_type(stated: list[Statement], type: str) -> list[tuple[str, str]]:
    return [(each.source.name, each.target.name) for each in stated if each.type == type]


def test_it_is_the_subject_of_the_sentence_before() -> None:
    stated = document("Foghorn is a job runner. It was built by Noor Haddad in 2022 and it uses redis. Its cat is old.")
    assert of_type(stated, "created") == [("Noor Haddad", "Foghorn")]
    assert of_type(stated, "uses") == [("Foghorn", "redis")]
    assert of_type(document("We like Foghorn. It uses redis."), "uses") == []


def test_what_is_defined_and_headed_is_no_relation() -> None:
    stated = document("# Foghorn\n\n## Terms\n\n- **Dark Frame**: an exposure.\n\nFoghorn is a fast runner.\n")
    assert [each.type for each in stated if each.type != "co_occurs"] == []
