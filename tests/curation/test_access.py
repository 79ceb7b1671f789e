"""On whose behalf a curator works."""

import pytest

import graphsearch
from graphsearch.curation import Curator
from graphsearch.errors import AccessDeniedError, GraphSearchError, MissingDependencyError
from tests.curation.team import ADA, BOB, GREG, Labels, engine_over


async def test_a_principal_and_an_authorizer_come_together(scoped):
    engine = await engine_over(scoped)
    with pytest.raises(MissingDependencyError, match=r"a principal alone.*authorizer=…"):
        Curator(engine, principal=GREG)
    with pytest.raises(MissingDependencyError, match=r"an authorizer alone.*principal=…"):
        Curator(engine, authorizer=Labels())
    assert graphsearch.Curator is Curator


async def test_an_authorizer_that_fails_denies(scoped):
    class Broken(Labels):
        async def authorize(self, principal, action, resources, *, scope):
            if action.value == "read":
                return [True] * len(resources)
            raise RuntimeError("Ada Lovelace")

    curator = Curator(await engine_over(scoped), principal=GREG, authorizer=Broken())
    with pytest.raises(AccessDeniedError) as caught:
        await curator.merge_entities(ADA.id, BOB.id)
    assert isinstance(caught.value, GraphSearchError)
    assert (caught.value.action, caught.value.denied) == ("merge", caught.value.touched)
    assert "Ada" not in str(caught.value)
    assert caught.value.__cause__ is None
