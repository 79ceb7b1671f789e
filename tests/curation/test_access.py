"""A curator acts on behalf of the principal of its gate."""

import inspect
import typing
from typing import Any

import pytest

import graphsearch
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.reader import When
from graphsearch.authz import CedarAuthorizer
from graphsearch.curation import Curator
from graphsearch.errors import AccessDeniedError, GraphSearchError, PartialViewError, UnknownElementError
from graphsearch.model import Batch, Principal
from graphsearch.protocols.rows import MemoryGroup
from graphsearch.testing.samples import person
from tests.curation.team import ADA, BOB, GREG, Labels, engine_over


async def test_without_a_gate_a_curator_works_for_the_owner(scoped):
    engine = await engine_over(scoped)
    await scoped.write(Batch(entities=[person("Ida", labels=["secret"])]))
    for curator in (Curator(engine), Curator(engine, gate=ALLOW_ALL)):
        assert (await curator.recall_entity("Ida")).entity.name == "Ida"
    with pytest.raises(UnknownElementError):
        await Curator(engine, gate=Gate(Labels(), GREG)).recall_entity("Ida")
    assert graphsearch.Curator is Curator


async def test_the_numbers_of_a_scope_are_for_whom_nothing_is_hidden_from(scoped):
    engine = await engine_over(scoped)
    assert await Curator(engine).stats() == await scoped.statistics()
    await scoped.write(Batch(entities=[person("Ida", labels=["secret"])]))
    with pytest.raises(PartialViewError):
        await Curator(engine, gate=Gate(Labels(), GREG)).stats()


async def test_an_authorizer_that_fails_denies(scoped):
    class Broken(Labels):
        async def authorize(self, principal, action, resources, *, scope):
            if action.value == "read":
                return [True] * len(resources)
            raise RuntimeError("Ada Lovelace")

    curator = Curator(await engine_over(scoped), gate=Gate(Broken(), GREG))
    with pytest.raises(AccessDeniedError) as caught:
        await curator.merge_entities(ADA.id, BOB.id)
    assert isinstance(caught.value, GraphSearchError)
    assert caught.value.action == "merge"
    assert "Ada" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_with_the_shipped_policies_members_read_and_editors_change(scoped):
    engine = await engine_over(scoped)
    await scoped.write(Batch(entities=[person("Ida", labels=["private"])]))
    roles: tuple[dict[str, Any], ...] = ({}, {"role": "editor"}, {"role": "editor", "see_private": True})
    member, editor, insider = (
        Curator(
            engine,
            gate=Gate(CedarAuthorizer.default(), Principal(id="greg", projects=[scoped.scope], attributes=attributes)),
        )
        for attributes in roles
    )
    assert (await member.recall_entity("Countess")).entity.id == ADA.id
    for change in (
        member.merge_entities(ADA.id, BOB.id),
        member.update_entity(ADA.id, name="Ada King"),
        member.forget(session_id="s1"),
        member.mark_distinct(ADA.id, BOB.id),
        member.link_memories("home", "hired"),
        member.detect_communities(),
    ):
        with pytest.raises(AccessDeniedError):
            await change
    made = await editor.merge_entities(ADA.id, BOB.id)
    assert (await editor.undo_merge(made.id)).stayed is None  # Ida is hidden: nothing is counted
    with pytest.raises(UnknownElementError):
        await editor.merge_entities(ADA.id, "Ida")
    assert (await insider.merge_entities("Ida", ADA.id)).target_id == ADA.id
    stranger = Curator(engine, gate=Gate(CedarAuthorizer.default(), Principal(id="greg")))
    assert await stranger.search_entities("ada") == ()
    assert (await editor.forget(session_id="s1")).memories == 2


@pytest.mark.parametrize("name", [name for name in vars(Curator) if not name.startswith("_")])
def test_signatures_say_what_is_taken_and_returned(name):
    method = getattr(Curator, name)
    parameters = inspect.signature(method).parameters
    hints = typing.get_type_hints(method)
    further = [each.name for each in parameters.values() if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    assert {hints[each] for each in further} <= {
        typing.Unpack[When],
        typing.Unpack[MemoryGroup],
    }  # which say what they are
    assert {*parameters, "return"} == {"self", *hints}
