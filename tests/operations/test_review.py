"""A queue of review, with two agents and a reviewer: what waits shapes no answer, is run once, and leaves no text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import attrs
import pytest

from graphsearch import authz
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, InvalidInputError, UnknownElementError
from graphsearch.model import Memory, Principal
from graphsearch.model.proposals import ProposalState
from graphsearch.operations import review
from graphsearch.operations.service import Caller, GraphService, Identity
from graphsearch.operations.serving import Desk as Server
from graphsearch.operations.table import operations
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import ScopedMemoryStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import ADA, BOB, claim, mention, person, portrait, put
from tests.trust.forgetting import pickled, rows

QUESTION = "Where does Ada work?"
ACCEPTED = ProposalState.ACCEPTED
NEWS = "Ada Lovelace works at Zephyrine."
WORK = Memory(id="work", text="Ada works with Bob.")
TWIN = person("Ada L.", labels=["private"])


class Desk:
    """A served scope, and the callers of its principals."""

    def __init__(self, store: GraphStore, authorizer: CedarAuthorizer | None = None) -> None:
        self.store, authorizer = store, authorizer or CedarAuthorizer.default()
        engine = GraphSearchEngine(store=store, embedder=HashEmbedder(16))
        self.service = GraphService(engine_of=lambda _: engine, authorizer=authorizer, review=True)
        self.one, self.other = self.caller("one", "editor", "Agent"), self.caller("other", "editor", "Agent")
        self.reader, self.reviewer = self.caller("rita", "reader"), self.caller("eve", "reviewer")
        self.admin = self.caller("root", "admin", see_private=True)

    def caller(self, name: str, role: str, type: str = "User", **attributes: Any) -> Caller:
        principal = Principal(id=name, type=type, attributes={"role": role, **attributes}, projects=[self.store.scope])
        return self.service.caller(Identity(principal, self.store.scope))

    async def propose(self, caller: Caller, name: str, /, **request: Any) -> UUID:
        operation = operations()[name]
        return (await review.propose(caller, operation, operation.read(request))).proposed

    async def answers(self) -> Any:
        """What everybody is answered, and everything that can be read."""
        told = []
        for caller in (self.one, self.reviewer, self.admin):
            found = await caller.engine.search(QUESTION, gate=caller.gate)
            recalled = await caller.engine.recall(QUESTION, gate=caller.gate)
            block = await caller.builder.build(QUESTION, gate=caller.gate, session_id=caller.gate.principal.id)
            told += [found.triplets, found.found, found.reason, recalled.memories, block.text]
        return told, await portrait(self.store)


@pytest.fixture
async def desk(scoped: GraphStore) -> Desk:
    await put(scoped, ADA, BOB, TWIN, WORK, mention(WORK, ADA), mention(WORK, BOB), claim(WORK, ADA, BOB, "works_with"))
    return Desk(scoped)


async def test_what_is_proposed_shapes_no_answer_until_it_is_accepted(desk: Desk) -> None:
    before = await desk.answers()
    id_ = await desk.propose(desk.one, "remember", text=NEWS, source="notes")
    await desk.propose(desk.other, "merge_entities", source="Ada", target="Bob")
    await desk.propose(desk.other, "update_entity", entity="Ada", description="Countess of Lovelace")
    await desk.propose(desk.other, "forget", memory="work")
    assert await desk.answers() == before
    done = await review.accept(desk.reviewer, proposal=id_, comment="Well said.")
    assert (done.state, done.decided_by, done.comment) == (ProposalState.ACCEPTED, "User:eve", "Well said.")
    [memory] = [each for each in await desk.store.list_memories() if each.text == NEWS]
    assert memory.attributes["owner"] == "one"
    assert "Zephyrine" in (await desk.one.builder.build(QUESTION, gate=desk.one.gate, session_id="t")).text
    [stored] = await desk.store.proposals([id_])
    assert (stored.request, stored.outcome["memory_ids"]) == ({}, 1)


async def test_each_operation_does_what_it_does_without_review(desk: Desk) -> None:
    await put(desk.store, Memory(id="gone"))
    asked: dict[str, dict[str, Any]] = {
        "update_entity": {"entity": "Bob", "description": "An engineer", "labels": ["staff"]},
        "merge_entities": {"source": "Ada", "target": "Bob"},
        "forget": {"memory": "gone"},
    }
    for name, request in asked.items():
        await review.accept(desk.reviewer, proposal=await desk.propose(desk.one, name, **request))
    [bob] = await desk.store.get_entities([BOB.id])
    assert (bob.description, bob.labels) == ("An engineer", ("staff",))
    [merge] = await desk.store.merges()
    assert [each.id for each in await desk.store.list_memories()] == ["work"]
    [merged] = [each for each in await desk.store.proposals() if each.operation == "merge_entities"]
    assert merged.outcome["id"] == str(merge.id)


async def test_nothing_is_left_of_what_is_rejected(desk: Desk, request: pytest.FixtureRequest) -> None:
    def stored() -> str:
        if isinstance(desk.store, ScopedMemoryStore):
            return pickled(desk.store._cell.version)
        return "".join(rows(request.getfixturevalue("shared_database").admin_dsn).values())

    id_ = await desk.propose(desk.one, "remember", text="Ada works at Xyzzy.", labels=["xyzzied"])
    assert stored().count("xyzzy") >= 1
    done = await review.reject(desk.reviewer, proposal=id_, comment="Not ours.")
    assert (done.state, done.comment) == (ProposalState.REJECTED, "Not ours.")
    assert "xyzz" not in stored()
    assert "not ours." in stored()
    with pytest.raises(InvalidInputError, match="is decided already"):
        await review.accept(desk.reviewer, proposal=id_)


async def test_of_many_who_accept_one_does(desk: Desk) -> None:
    id_ = await desk.propose(desk.one, "merge_entities", source="Ada", target="Bob")
    tries = [review.accept(each, proposal=id_) for each in (desk.reviewer, desk.admin) * 3]
    ended = await asyncio.gather(*tries, return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["InvalidInputError"] * 5 + ["Proposal"]
    assert len(await desk.store.merges()) == 1


async def test_who_leaves_while_it_runs_has_accepted_it(desk: Desk) -> None:
    id_ = await desk.propose(desk.one, "remember", text=NEWS)
    running = asyncio.create_task(review.accept(desk.reviewer, proposal=id_))
    while not await desk.store.proposals(state=ProposalState.RUNNING):  # noqa: ASYNC110 - of a store, without an event
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [each.state for each in await desk.store.proposals()] == [ProposalState.ACCEPTED]
    assert len(await desk.store.list_memories()) == 2


async def test_what_fails_waits_again(desk: Desk) -> None:
    id_ = await desk.propose(desk.one, "merge_entities", source="Ada", target="Bob")
    await Curator(desk.one.engine, gate=ALLOW_ALL).merge_entities("Ada", "Bob")
    [waiting] = await desk.store.proposals()
    with pytest.raises(InvalidInputError, match="merged"):
        await review.accept(desk.reviewer, proposal=id_, comment="Yes.")
    assert await desk.store.proposals() == [waiting]


async def test_a_run_that_was_killed_is_open_again_after_an_hour(desk: Desk, clock: Any) -> None:
    id_ = await desk.propose(desk.one, "remember", text=NEWS)
    [waiting] = await desk.store.proposals()
    killed = attrs.evolve(waiting, state=ProposalState.RUNNING, decided_by="User:eve", decided_at=clock.now())
    assert await desk.store.decide(waiting, killed)
    with pytest.raises(InvalidInputError, match="being run"):
        await review.accept(desk.admin, proposal=id_)
    clock.advance(hours=1)
    assert (await review.accept(desk.admin, proposal=id_)).decided_by == "User:root"


async def test_nobody_decides_on_their_own_but_the_owner_of_the_graph(desk: Desk) -> None:
    id_ = await desk.propose(desk.reviewer, "remember", text=NEWS)
    for decide in (review.accept, review.reject):
        with pytest.raises(AccessDeniedError):
            await decide(desk.reviewer, proposal=id_)
    owned = attrs.evolve(desk.reviewer, gate=Gate(ALLOW_ALL.authorizer, desk.reviewer.gate.principal))
    assert (await review.accept(owned, proposal=id_)).state is ProposalState.ACCEPTED


async def test_proposals_are_for_reviewers_and_for_whom_they_are_of(desk: Desk, clock: Any) -> None:
    first = await desk.propose(desk.one, "remember", text=NEWS)
    clock.advance(seconds=1)
    second = await desk.propose(desk.admin, "remember", text=NEWS, labels=["private"])
    seen = {
        name: [each.id for each in await review.proposals(getattr(desk, name))]
        for name in ("one", "other", "reader", "reviewer", "admin")
    }
    assert seen == {"one": [first], "other": [], "reader": [], "reviewer": [first], "admin": [first, second]}
    assert [each.id for each in await review.proposals(desk.admin, limit=1)] == [first]
    [listed] = await review.proposals(desk.reviewer)
    assert (listed.request, listed.principal) == ({}, Principal(id="one", type="Agent"))
    for look in (review.preview, review.accept, review.reject):
        for id_ in (second, uuid4()):
            with pytest.raises(UnknownElementError, match=str(id_)):
                await look(desk.reviewer, proposal=id_)
    with pytest.raises(AccessDeniedError):
        await review.accept(desk.one, proposal=first)


async def test_what_has_ended_is_shown_to_no_more_than_when_it_waited(desk: Desk) -> None:
    boss = desk.caller("boss", "admin", see_private=True)
    await review.accept(boss, proposal=await desk.propose(desk.one, "remember", text=NEWS))
    await review.accept(boss, proposal=await desk.propose(desk.admin, "remember", text=NEWS, labels=["private"]))
    seen = {
        name: [(each.proposed_by, dict(each.outcome)) for each in await review.proposals(caller, state=ACCEPTED)]
        for name, caller in {"one": desk.one, "reviewer": desk.reviewer, "admin": desk.admin, "boss": boss}.items()
    }
    done = {"changed": 1, "memory_ids": 1, "facts": 0, "echoes": 0, "replaced": 0}
    assert seen["one"] == [("Agent:one", done)]
    assert seen["reviewer"] == [("Agent:one", {})]
    assert sorted(seen["admin"]) == [("Agent:one", {}), ("User:root", done)]
    assert sorted(seen["boss"]) == [("Agent:one", {}), ("User:root", {})]


async def test_what_one_may_not_do_is_not_proposed_and_what_one_may_not_do_any_more_is_not_run(desk: Desk) -> None:
    for name, request in {"remember": {"text": NEWS}, "merge_entities": {"source": "Ada", "target": "Bob"}}.items():
        with pytest.raises(AccessDeniedError):
            await desk.propose(desk.reader, name, **request)
    with pytest.raises(AccessDeniedError):
        await desk.propose(desk.one, "remember", text=NEWS, labels=["private"])
    with pytest.raises(UnknownElementError):
        await desk.propose(desk.one, "merge_entities", source="Ada", target="Nobody at all")
    with pytest.raises(InvalidInputError):
        await desk.propose(desk.one, "remember", texts=NEWS)
    assert await desk.store.proposals() == []
    id_ = await desk.propose(desk.one, "update_entity", entity="Ada L.", description="Hidden from whom it is of")
    with pytest.raises(UnknownElementError):
        await review.accept(desk.admin, proposal=id_)
    assert [each.state for each in await desk.store.proposals()] == [ProposalState.WAITING]


async def test_the_change_is_shown_beforehand(desk: Desk) -> None:
    asked = {
        "remember": {"text": NEWS},
        "merge_entities": {"source": "Ada", "target": "Bob"},
        "update_entity": {"entity": "Bob", "description": "An engineer"},
        "register_type": {"name": "mentors"},
        "link_memories": {"from_id": "work", "to_id": "work too"},
        "forget": {"memory": "work"},
    }
    await put(desk.store, Memory(id="work too"))
    before = await portrait(desk.store)
    seen = {
        name: await review.preview(desk.reviewer, proposal=await desk.propose(desk.one, name, **request))
        for name, request in asked.items()
    }
    assert await portrait(desk.store) == before
    assert {name: each.proposal.request for name, each in seen.items()} == asked
    assert not any(each.withheld for each in seen.values())
    assert seen["remember"].change == {
        "memories": [{"text": NEWS, "labels": []}],
        "entities": [{"name": "Ada Lovelace", "type": "person"}, {"name": "Zephyrine", "type": "organisation"}],
        "facts": ["Ada Lovelace works_at Zephyrine"],
    }
    assert (seen["merge_entities"].change["mentions"], seen["merge_entities"].change["claims"]) == (1, 1)
    assert seen["update_entity"].change == {"before": {"description": ""}, "after": {"description": "An engineer"}}
    assert seen["forget"].change["memories"] == 1
    assert seen["register_type"].change == asked["register_type"]


async def test_what_a_reviewer_may_not_see_is_withheld(desk: Desk) -> None:
    secret = {"entity": "Ada L.", "description": "The twin"}
    for name, request in {
        "update_entity": secret,
        "merge_entities": {"source": "Ada L.", "target": "Ada"},
        "mark_distinct": {"one": "Ada L.", "other": "Ada"},
    }.items():
        id_ = await desk.propose(desk.caller("spy", "editor", see_private=True), name, **request)
        found = await review.preview(desk.reviewer, proposal=id_)
        assert (found.withheld, found.proposal.request, found.change) == (True, {}, {})
        assert "L." not in repr(found)
        whole = await review.preview(desk.admin, proposal=id_)
        assert (whole.withheld, whole.proposal.request) == (False, request)


async def test_of_what_would_be_remembered_the_visible_is_shown(scoped: GraphStore, tmp_path: Path) -> None:
    default, ours = Path(authz.__file__).parent / "policies" / "default.cedar", tmp_path / "ours.cedar"
    ours.write_text('forbid (principal == User::"eve", action, resource) when { resource.type == "organisation" };')
    desk = Desk(scoped, CedarAuthorizer.from_files([default, ours]))
    id_ = await desk.propose(desk.one, "remember", text=NEWS)
    found = await review.preview(desk.reviewer, proposal=id_)
    assert (found.withheld, found.proposal.request) == (True, {})
    assert found.change["entities"] == [{"name": "Ada Lovelace", "type": "person"}]
    assert (found.change["facts"], len(found.change["memories"])) == ([], 1)
    assert not (await review.preview(desk.admin, proposal=id_)).withheld


async def test_a_new_project_begins_with_a_proposal(scoped: GraphStore) -> None:
    desk = Desk(scoped)
    id_ = await desk.propose(desk.one, "remember", text=NEWS)
    assert await scoped.list_memories() == []
    await review.accept(desk.reviewer, proposal=id_)
    assert [each.text for each in await scoped.list_memories()] == [NEWS]


async def test_a_server_with_review_proposes_what_changes_the_graph(desk: Desk) -> None:
    served, one = Server(desk.service), Identity(desk.one.gate.principal, desk.store.scope)
    for name, request in {"detect_communities": {}, "search": {"query": QUESTION}}.items():
        operation = operations()[name]
        answer = operation.told(await served.answer(operation, operation.read(request), one))
        assert ("proposed" in answer) is (name == "detect_communities")
        if "proposed" in answer:
            [waiting] = await desk.store.proposals()
            assert answer == {"proposed": str(waiting.id), "waits_for": "review"}
            assert waiting.principal == one.principal
    without, remember = Server(attrs.evolve(desk.service, review=False)), operations()["remember"]
    await without.answer(remember, remember.read({"text": NEWS}), one)
    assert len(await desk.store.list_memories()) == 2


def test_review_is_for_what_changes_the_graph() -> None:
    table = operations()
    asked = {
        name: review.waits(table[name], table[name].read(request))
        for name, request in {
            "remember": {"text": NEWS},
            "forget": {"memory": "work"},
            "merge_entities": {"source": "a", "target": "b"},
            "feedback": {"session_id": "s", "outcome": "accepted"},
            "search": {"query": QUESTION},
        }.items()
    }
    assert asked == {"remember": True, "forget": True, "merge_entities": True, "feedback": False, "search": False}
    dry = table["merge_entities"].read({"source": "a", "target": "b", "dry_run": True})
    assert not review.waits(table["merge_entities"], dry)
