"""An embedder that embeds equal texts once."""

import numpy as np
import pytest

from graphsearch.ingest.write.writer import DistinctTexts
from graphsearch.testing.fakes import HashEmbedder


class Counting(HashEmbedder):
    """Records the texts of each call."""

    def __init__(self):
        super().__init__(8)
        self.calls = []

    async def embed(self, texts, *, input_type="document"):
        self.calls.append((input_type, list(texts)))
        return await super().embed(texts, input_type=input_type)


@pytest.fixture
def counting():
    return Counting()


async def test_vectors_are_those_of_the_other_embedder_in_the_order_of_the_texts(counting):
    once = DistinctTexts(counting)
    assert (once.name, once.dimensions) == (counting.name, 8)
    for texts in (["Ada", "Bo"], ["Cy", "Bo", "Cy", "Ada"], ["Bo"]):
        expected = await HashEmbedder(8).embed(texts)
        assert np.array_equal(await once.embed(texts, input_type="document"), expected)
    assert counting.calls == [("document", ["Ada", "Bo"]), ("document", ["Cy"])]


async def test_questions_are_apart_from_documents(counting):
    once = DistinctTexts(counting)
    await once.embed(["Ada"], input_type="document")
    await once.embed(["Ada"], input_type="query")
    assert counting.calls == [("document", ["Ada"]), ("query", ["Ada"])]


async def test_no_texts_are_left_to_the_other_embedder(counting):
    assert (await DistinctTexts(counting).embed([], input_type="document")).shape == (0, 8)


async def test_long_texts_and_the_oldest_are_not_kept(counting, monkeypatch):
    monkeypatch.setattr("graphsearch.ingest.write.writer._MOST_KEPT", 2)
    once = DistinctTexts(counting)
    long = "a" * 1_001
    await once.embed(["Ada", long, "Bo", "Cy"], input_type="document")
    await once.embed([long, "Ada", "Bo", "Cy"], input_type="document")
    assert counting.calls[1] == ("document", [long, "Ada"])
