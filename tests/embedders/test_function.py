import asyncio
import functools
from collections.abc import Sequence

import numpy as np
import pytest

from graphsearch.embedders import FunctionEmbedder, WordLlamaEmbedder, as_embedder
from graphsearch.errors import EmbedderError, InvalidInputError, StoreError
from tests.waiting import LONGEST, Crowd


async def lengths(text: str) -> list[float]:
    return [float(len(text)), 1.0]


class Model:
    async def __call__(self, text: str) -> Sequence[float]:
        return (1.0, float(len(text)), 0.0)


async def test_a_plain_function_is_an_embedder() -> None:
    embedder = as_embedder(lengths)
    assert embedder is not None
    vectors = await embedder.embed(["a", "bb", "ccc"], input_type="query")
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 1], [2, 1], [3, 1]]
    assert embedder.dimensions == 2
    assert embedder.name.endswith("test_function.lengths")


async def test_names_of_callables() -> None:
    assert FunctionEmbedder(Model()).name.endswith("test_function.Model")
    for nameless in (functools.partial(lengths), lambda text: lengths(text + "")):
        with pytest.raises(InvalidInputError, match="has no name of its own"):
            FunctionEmbedder(nameless)
        assert FunctionEmbedder(nameless, "mine-2").name == "mine-2"
    assert FunctionEmbedder(lengths, "mine").name == "mine"


async def test_dimensions_are_learnt_from_the_first_answer() -> None:
    embedder = FunctionEmbedder(lengths)
    with pytest.raises(EmbedderError, match="embed a text first"):
        _ = embedder.dimensions
    assert (await embedder.embed([], input_type="query")).shape == (0, 0)
    await embedder.embed(["a"], input_type="query")
    assert embedder.dimensions == 2


async def test_a_later_answer_of_another_length_is_refused() -> None:
    async def growing(text: str) -> list[float]:
        return [1.0] * len(text)

    embedder = FunctionEmbedder(growing)
    with pytest.raises(EmbedderError, match="2 numbers where 1 were expected"):
        await embedder.embed(["a", "bb"], input_type="query")
    await embedder.embed(["aaa"], input_type="query")
    with pytest.raises(EmbedderError, match="1 numbers where 3 were expected"):
        await embedder.embed(["a"], input_type="query")


async def test_stated_dimensions_bind() -> None:
    with pytest.raises(EmbedderError, match="2 numbers where 4"):
        await FunctionEmbedder(lengths, dimensions=4).embed(["a"], input_type="query")


async def test_calls_run_at_once_but_not_too_many() -> None:
    crowd = Crowd(3)

    async def counting(text: str) -> list[float]:
        async with crowd:
            return [float(text)]

    vectors = await FunctionEmbedder(counting, concurrency=3).embed(
        [str(number) for number in range(1, 20)], input_type="document"
    )
    assert vectors[:, 0].tolist() == list(range(1, 20))
    assert crowd.most == 3


async def test_what_the_function_raises_is_wrapped_and_ends_the_others() -> None:
    ended: list[str] = []

    async def failing(text: str) -> list[float]:
        if text == "bad":
            raise ConnectionError("no route")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(text)
        return [1.0]

    with pytest.raises(EmbedderError, match="ConnectionError: no route") as caught:
        async with asyncio.timeout(LONGEST):
            await FunctionEmbedder(failing).embed(["a", "b", "bad"], input_type="query")
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert sorted(ended) == ["a", "b"]


async def test_errors_of_the_tree_pass_as_they_are() -> None:
    async def failing(_: str) -> list[float]:
        raise StoreError

    with pytest.raises(StoreError):
        await FunctionEmbedder(failing).embed(["a"], input_type="query")


async def test_a_function_that_is_not_async() -> None:
    with pytest.raises(EmbedderError, match="async def"):
        await FunctionEmbedder(lambda _: [1.0], "odd").embed(["a"], input_type="query")  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("answer", [1.0, [], [[1.0]]])
async def test_an_answer_that_is_no_vector(answer: object) -> None:
    async def odd(_: str) -> object:
        return answer

    with pytest.raises(EmbedderError, match="sequence of floats"):
        await FunctionEmbedder(odd).embed(["a"], input_type="query")  # type: ignore[arg-type]


def test_embedders_and_none_pass_as_they_are() -> None:
    embedder = WordLlamaEmbedder()
    assert as_embedder(embedder) is embedder
    assert as_embedder(None) is None


@pytest.mark.parametrize(
    ("part", "fault"), [(WordLlamaEmbedder, r"WordLlamaEmbedder\(\), not the class"), ("voyage", "not str")]
)
def test_anything_else_is_refused(part: object, fault: str) -> None:
    with pytest.raises(InvalidInputError, match=fault):
        as_embedder(part)  # type: ignore[arg-type]


def test_every_fault_of_construction_is_named() -> None:
    with pytest.raises(InvalidInputError) as caught:
        FunctionEmbedder(3, name="", dimensions=0, concurrency=0)  # type: ignore[arg-type]
    assert len(caught.value.faults) == 4
