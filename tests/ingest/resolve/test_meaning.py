"""The embedding stage: vectors are asked for only where names alone do not tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.listed_names import ListedNames
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, Stage
from graphsearch.model import Entity, Vector
from graphsearch.protocols import InputType
from tests.ingest.resolve.surfaces import person, surface

LOGIN = Entity(type="project", name="login service")


class Angles:
    """An embedder that turns each text to the angle that is given for its beginning; others to one of their own."""

    name = "angles"
    dimensions = 2

    def __init__(self, **degrees: float) -> None:
        self.degrees = degrees
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        self.asked += texts
        return np.array([self.vector(text) for text in texts], np.float32)

    def vector(self, text: str) -> Vector:
        angle = next((value for word, value in self.degrees.items() if text.startswith(word)), 180.0)
        return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))], np.float32)


async def resolve(
    *names: str,
    known: Sequence[Entity] = (),
    embedder: Angles | None = None,
    type: str = "project",
) -> Sequence[Resolution]:
    vectors = {entity.id: embedder.vector(entity.name) for entity in known} if embedder else {}
    resolver = Resolver(ListedNames(known, vectors), embedder=embedder)
    return await resolver.resolve([surface(name, type) for name in names])


# -- vectors ------------------------------------------------------------------------------------------------------


async def test_a_vector_that_is_near_decides() -> None:
    (found,) = await resolve("signin component", known=[LOGIN], embedder=Angles(login=0, signin=10))
    assert (found.entity, found.stage) == (LOGIN, Stage.EMBEDDING)
    assert found.score == pytest.approx(np.cos(np.radians(10)), abs=1e-5)


async def test_a_vector_that_is_not_near_enough_does_not() -> None:
    (found,) = await resolve("signin component", known=[LOGIN], embedder=Angles(login=0, signin=30))
    assert found.stage is Stage.CREATE


async def test_the_nearest_wins_and_of_equal_ones_the_lowest_id() -> None:
    others = [Entity(type="project", name=f"login {word}") for word in ("portal", "gateway")]
    far = Entity(type="project", name="auth portal")
    embedder = Angles(login=0, auth=8, signin=10)
    (found,) = await resolve("signin component", known=[*others, far], embedder=embedder)
    assert found.entity == far
    (found,) = await resolve("signin component", known=others, embedder=embedder)
    assert found.entity == min(others, key=lambda each: each.id)


async def test_vectors_do_not_see_numbers_types_and_words_more() -> None:
    embedder = Angles(Phoenix=0, login=0)
    known = [
        Entity(type="project", name="Phoenix rollout 2"),
        Entity(type="tool", name="login"),
        Entity(type="project", name="Phoenix rollout of"),
    ]
    (found,) = await resolve("Phoenix rollout", known=known[:2], embedder=embedder)
    assert found.stage is Stage.CREATE
    (found,) = await resolve("Phoenix", known=[known[2]], embedder=embedder)
    assert found.stage is Stage.CREATE


async def test_names_of_one_word_are_not_compared() -> None:
    embedder = Angles(Tang=0)
    (found,) = await resolve("Tangier", known=[Entity(type="project", name="Tang")], embedder=embedder)
    assert found.stage is Stage.CREATE
    (found,) = await resolve("signin component", known=[Entity(type="project", name="login")], embedder=Angles(login=0))
    assert found.stage is Stage.CREATE


async def test_words_that_two_names_do_not_share_must_be_near_as_well() -> None:
    embedder = Angles(Terrier=0, english=60, american=0)
    known = [Entity(type="project", name="Terrier Club American")]
    (found,) = await resolve("Terrier Club English", known=known, embedder=embedder)
    assert found.stage is Stage.CREATE
    near = Angles(Terrier=0, english=5, american=0)
    (found,) = await resolve("Terrier Club English", known=known, embedder=near)
    assert found.stage is Stage.EMBEDDING


async def test_names_of_persons_are_not_embedded() -> None:
    embedder = Angles(Ada=0, Priya=0)
    found = await resolve("Priya Patel", known=[person("Ada Byron")], embedder=embedder, type="person")
    assert found[0].stage is Stage.CREATE
    assert embedder.asked == []


async def test_names_of_an_entity_that_turns_out_to_be_another_go_with_it() -> None:
    found = await resolve(
        "signin component", "Signin-Component", known=[LOGIN], embedder=Angles(login=0, signin=5, Sign=5)
    )
    assert {each.entity.id for each in found} == {LOGIN.id}
    assert sorted(each.stage for each in found) == [Stage.EMBEDDING, Stage.ID]


async def test_what_is_known_is_not_embedded() -> None:
    embedder = Angles()
    await resolve("Login Service", known=[LOGIN], embedder=embedder)
    assert embedder.asked == []
