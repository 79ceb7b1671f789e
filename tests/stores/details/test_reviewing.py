"""Proposals: beside the graph, of which no other read shows them; decided once; gone with their scope."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError, OccupiedScopeError, UnknownScopeError
from graphsearch.model import Principal, Scope
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import HOSTILE_TEXTS, day, portrait, put
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_moving import everything, pages_of
from tests.stores.on_both import InMemory, InPostgres

AGENT = Principal(id="a:1%", type="Agent", attributes={"role": "editor"}, projects=[Scope("org", "project")])


def proposal(number: int = 1, at: datetime | None = None, **fields: Any) -> Proposal:
    """A proposal to remember a text."""
    given = {"request": {"text": "Ada knows Bob."}, **fields}
    return Proposal(id=UUID(int=number), operation="remember", principal=AGENT, created_at=at or day(number), **given)


def rejected(one: Proposal, at: datetime) -> Proposal:
    """What a proposal becomes when it is rejected."""
    return attrs.evolve(one, decided_by="User:eve", decided_at=at, comment="No.").end(ProposalState.REJECTED)


class ReviewingDetails(StoreSpec):
    """`propose`, `proposals`, `decide`."""

    async def test_proposals_are_read_as_they_were_given_the_oldest_first(self, store: GraphStore) -> None:
        with pytest.raises(UnknownScopeError):
            await store.proposals()
        texts = {f"key {text}": text for text in HOSTILE_TEXTS}
        request = {**texts, "deep": [{"a": [1, -2.5, None, True]}], "large": 10**30, "small": 1e-300, "whole": 1.0}
        later, same, first = proposal(1, day(5)), proposal(2, day(5)), proposal(3, day(4), request=request)
        for each in (same, later, first, attrs.evolve(first, operation="forget")):
            await store.propose(each)
        assert await store.proposals() == [first, later, same]
        assert await store.proposals(limit=2) == [first, later]
        assert await store.proposals(after=later.id) == [same]
        assert await store.proposals(after=UUID(int=9)) == []
        assert await store.proposals([same.id, UUID(int=9), first.id]) == [first, same]
        assert await store.proposals([]) == []

    async def test_of_many_who_decide_one_does(self, store: GraphStore) -> None:
        one, other = proposal(1), proposal(2)
        await store.propose(one)
        await store.propose(other)
        ends = [rejected(one, day(number)) for number in range(2, 10)]
        done = await asyncio.gather(*(store.decide(one, each) for each in ends))
        assert sum(done) == 1
        [stored] = await store.proposals(state=ProposalState.REJECTED)
        assert stored == ends[done.index(True)]
        assert await store.proposals(state=ProposalState.WAITING) == [other]
        assert not await store.decide(attrs.evolve(stored, decided_at=day(1)), one)  # in its state since another time
        assert await store.decide(stored, one)
        assert await store.proposals() == [one, other]
        assert not await store.decide(proposal(3), rejected(proposal(3), day(4)))

    def test_what_has_ended_keeps_no_request(self) -> None:
        with pytest.raises(InvalidInputError, match="must have no request"):
            proposal(state=ProposalState.REJECTED)

    async def test_no_other_read_shows_or_counts_them(self, store: GraphStore, fresh: FreshScope) -> None:
        await put(store)
        before, version = await portrait(store), await store.version()
        records, other = await everything(store), fresh()
        for each in (store, other):
            await each.propose(proposal())
            assert await portrait(each) == before
        assert await store.version() == version
        assert await everything(store) == records

    async def test_they_are_of_one_scope_and_go_with_it(self, store: GraphStore, fresh: FreshScope) -> None:
        other = fresh()
        for each in (store, other):
            await each.propose(proposal())
        assert await store.decide(proposal(), rejected(proposal(), day(3)))
        assert await other.proposals() == [proposal()]
        await store.remove_scope()
        with pytest.raises(UnknownScopeError):
            await store.proposals()
        await put(store)
        assert await store.proposals() == []
        assert await other.proposals() == [proposal()]

    async def test_a_load_takes_their_place_only_if_it_may_replace(self, store: GraphStore, fresh: FreshScope) -> None:
        source = fresh()
        await put(source)
        await store.propose(proposal())
        with pytest.raises(OccupiedScopeError):
            await store.load(await source.settings(), pages_of(source))
        assert await store.proposals() == [proposal()]
        await store.load(await source.settings(), pages_of(source), replace=True)
        assert await store.proposals() == []


class TestInMemory(InMemory, ReviewingDetails):
    pass


class TestPostgres(InPostgres, ReviewingDetails):
    pass
