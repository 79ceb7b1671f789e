"""A queue of review: what principals would change waits as proposals, which somebody else accepts or rejects.

Nothing proposed is in the graph before it is accepted. It is then run on behalf of whoever proposed it, by the policies of
that moment, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.concurrency import finished
from graphsearch._support.paging import pages
from graphsearch.access.gate import resource_of
from graphsearch.access.reader import known, reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import (
    AccessDeniedError,
    InvalidInputError,
    UnknownElementError,
    UnknownScopeError,
)
from graphsearch.model import Action, Entity, Memory, Principal, Relation
from graphsearch.model.codec import encode
from graphsearch.model.identity import id_or_name
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.operations.operation import Operation
from graphsearch.operations.service import Caller, Identity
from graphsearch.operations.table import operations
from graphsearch.stores.memory import InMemoryGraphStore

INTERRUPTED: Final = timedelta(hours=1)
"""The age from which on a run that has not ended counts as one whose process did; it may be decided on again."""
_CHANGES: Final = (Action.WRITE, Action.MERGE, Action.FORGET)


@attrs.frozen(kw_only=True)
class Preview:
    """A proposal, and what it would change, as the reviewer may see it.

    What is ``withheld`` is the request, and whatever of the change touches something that the reviewer may not see.
    """

    proposal: Proposal
    change: Mapping[str, Any]
    withheld: bool = False


@attrs.frozen(kw_only=True)
class Proposed:
    """The answer to a call that waits for review, in place of its result."""

    proposed: UUID
    waits_for: str = "review"


def waits(operation: Operation, request: Any) -> bool:
    """Whether a call is one that review is for: it would change the graph, and is no dry run."""
    return operation.permission in _CHANGES and not operation.reads and not getattr(request, "dry_run", False)


async def propose(caller: Caller, operation: Operation, request: Mapping[str, Any]) -> Proposed:
    """Store a call as a proposal; it was validated, and is refused where its principal could not make it anyway.

    Raises what a dry run raises, and `AccessDeniedError` without the permission on anything with its labels.
    """
    store, read = caller.engine.store, operation.read(request)
    proposal = Proposal(
        operation=operation.name, request=request, principal=caller.gate.principal, created_at=store.clock.now()
    )
    bound = caller.gate.bind(store.scope, operation.permission)
    if not any(await bound.permits([resource_of(each) for each in _stand_ins(proposal)])):
        raise AccessDeniedError(operation.permission.value)
    if hasattr(read, "dry_run"):
        with suppress(UnknownScopeError):  # the proposal creates it
            await operation.run(caller, attrs.evolve(read, dry_run=True))
    await store.propose(proposal)
    return Proposed(proposed=proposal.id)


async def proposals(
    caller: Caller, *, state: ProposalState = ProposalState.WAITING, limit: int = 20
) -> tuple[Proposal, ...]:
    """The proposals in a state that the principal may review or has made, the oldest first, without their requests."""
    found: list[Proposal] = []
    async for page in pages(caller.engine.store.proposals, state=state):
        found += await _visible(caller, page)
        if len(found) >= limit:
            break
    return tuple(map(_without_request, found[:limit]))


async def preview(caller: Caller, *, proposal_id: UUID) -> Preview:
    """Show a proposal and what it would change, of what the principal may see; nothing is changed.

    What would be remembered is read as in an empty project, by the extractor of the service.
    """
    proposal = await _known(caller, proposal_id)
    shown = _without_request(proposal)
    if not proposal.request:
        return Preview(proposal=shown, change={})
    try:
        change, whole = await _change(caller, proposal)
    except (UnknownElementError, UnknownScopeError, AccessDeniedError):
        return Preview(proposal=shown, change={}, withheld=True)
    if whole:
        shown = attrs.evolve(shown, request=proposal.request)
    return Preview(proposal=shown, change=change, withheld=not whole)


async def accept(caller: Caller, *, proposal_id: UUID, reason: str = "") -> Proposal:
    """Run what is proposed, on behalf of whoever proposed it, and record the outcome: once, whoever else accepts it too.

    If it fails, the error is raised and the proposal waits again.
    """
    waiting = await _open(caller, proposal_id)
    running = _decided(caller, waiting, ProposalState.RUNNING, reason)
    await _decide(caller, waiting, running)
    return await finished(_run(caller, waiting, running))  # whoever waits for it may leave meanwhile


async def reject(caller: Caller, *, proposal_id: UUID, reason: str = "") -> Proposal:
    """Turn a proposal down; of its request nothing is kept."""
    waiting = await _open(caller, proposal_id)
    rejected = attrs.evolve(_decided(caller, waiting, ProposalState.REJECTED, reason), request={})
    await _decide(caller, waiting, rejected)
    return _without_request(rejected)


# -- who may review ---------------------------------------------------------------------------------------------------


def _stand_ins(proposal: Proposal) -> Sequence[Memory | Entity | Relation]:
    """A proposal as policies see it: first as a memory, with the labels of its request and its principal as the owner."""
    operation = operations().get(proposal.operation)
    read = operation.read(proposal.request) if operation and proposal.request else None
    labels, given = getattr(read, "labels", None) or (), {"owner": proposal.principal.id}
    entity = Entity(type="thing", name="proposal", labels=labels, attributes=given)
    return (
        Memory(id="proposal", labels=labels, attributes=given),
        entity,
        Relation(source_id=entity.id, target_id=entity.id, type="is", labels=labels, attributes=given),
    )


async def _visible(caller: Caller, some: Sequence[Proposal]) -> list[Proposal]:
    """Those that the principal may review or has made."""
    bound = caller.gate.bind(caller.engine.store.scope, Action.REVIEW)
    allowed = await bound.permits([resource_of(_stand_ins(each)[0]) for each in some])
    return [each for each, allow in zip(some, allowed, strict=True) if allow or _is_own(caller, each)]


def _is_own(caller: Caller, proposal: Proposal) -> bool:
    return caller.gate.principal.qualified_id == proposal.principal.qualified_id


async def _known(caller: Caller, proposal_id: UUID) -> Proposal:
    found = await _visible(caller, await caller.engine.store.proposals([proposal_id]))
    if not found:
        raise UnknownElementError(f"no proposal {proposal_id} in {caller.engine.store.scope}")
    return found[0]


async def _open(caller: Caller, proposal_id: UUID) -> Proposal:
    """A proposal that the principal may decide on now."""
    proposal = await _known(caller, proposal_id)
    if _is_own(caller, proposal) and not caller.gate.allows_all:
        raise AccessDeniedError(Action.REVIEW.value)
    since = proposal.decided_at
    interrupted = since is not None and caller.engine.store.clock.now() - since >= INTERRUPTED
    if proposal.state is not ProposalState.WAITING and not (proposal.state is ProposalState.RUNNING and interrupted):
        raise _too_late(proposal)
    return proposal


def _too_late(proposal: Proposal) -> InvalidInputError:
    return InvalidInputError(f"proposal {proposal.id}", [f"is {proposal.state} by now: look at it again"])


# -- deciding ---------------------------------------------------------------------------------------------------------


def _decided(caller: Caller, proposal: Proposal, state: ProposalState, reason: str) -> Proposal:
    who, now = caller.gate.principal.qualified_id, caller.engine.store.clock.now()
    request = {} if state is ProposalState.REJECTED else proposal.request
    return attrs.evolve(proposal, state=state, decided_by=who, decided_at=now, reason=reason, request=request)


async def _decide(caller: Caller, before: Proposal, after: Proposal) -> None:
    if not await caller.engine.store.decide(before, after):
        raise _too_late((await _known(caller, before.id)))


async def _run(caller: Caller, waiting: Proposal, running: Proposal) -> Proposal:
    """Run what is claimed; it waits again where that fails."""
    store, operation = caller.engine.store, operations()[running.operation]
    try:
        proposer = caller.service.caller(Identity(running.principal, store.scope))
        result = await operation.run(proposer, operation.read(running.request))
    except Exception:
        await store.decide(running, attrs.evolve(waiting, state=ProposalState.WAITING, decided_at=None))
        raise
    accepted = attrs.evolve(running, state=ProposalState.ACCEPTED, request={}, outcome=_numbers(encode(result)))
    await store.decide(running, accepted)
    return _without_request(accepted)


def _numbers(result: Any) -> Mapping[str, Any]:
    """The ids and numbers of a result: what is forgotten later is in no outcome."""
    given = result if isinstance(result, dict) else {"result": result}
    sizes = {name: len(each) if isinstance(each, list) else each for name, each in given.items()}
    return {name: each for name, each in sizes.items() if isinstance(each, int | float) or _is_id(each)}


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and isinstance(id_or_name(value), UUID)


def _without_request(proposal: Proposal) -> Proposal:
    """What everybody who may see a proposal is shown of it: neither its request nor the attributes of its principal."""
    who = proposal.principal
    return attrs.evolve(proposal, request={}, principal=Principal(id=who.id, type=who.type))


# -- what it would change ---------------------------------------------------------------------------------------------


async def _change(caller: Caller, proposal: Proposal) -> tuple[Mapping[str, Any], bool]:
    """What a proposal would change, read through the gate of the caller; and whether that is all of it."""
    operation = operations()[proposal.operation]
    request = operation.read(proposal.request)
    if operation.name == "remember":
        return await _stated(caller, proposal.principal, operation, request)
    if hasattr(request, "dry_run"):
        return encode(await operation.run(caller, attrs.evolve(request, dry_run=True))), True
    async with reading(caller.engine.store, gate=caller.gate) as reader:
        named = [getattr(request, name, None) for name in ("entity", "one", "other")]
        found = [await known(each, reader, exactly=True) for each in named if each is not None]
        memories = [each for name in ("from_id", "to_id") if (each := getattr(request, name, None))]
        if len(await reader.get_memories(memories)) < len(memories):
            raise UnknownElementError("no such memory")
    if operation.name == "update_entity":
        after = {name: each for name, each in proposal.request.items() if name != "entity"}
        return {"before": {name: encode(getattr(found[0], name)) for name in after}, "after": after}, True
    return proposal.request, True


async def _stated(caller: Caller, who: Principal, operation: Operation, request: Any) -> tuple[Mapping[str, Any], bool]:
    """What would be remembered, as an empty project reads it: memories, and the entities and facts that they state."""
    store = caller.engine.store
    empty = InMemoryGraphStore(clock=store.clock, analyser=store.analyser)
    scratch = GraphSearchEngine(store=empty.with_scope(org_id=store.scope.org_id, project_id=store.scope.project_id))
    service = attrs.evolve(caller.service, engine_of=lambda _: scratch)
    await operation.run(service.caller(Identity(who, store.scope)), request)
    async with reading(scratch.store, gate=caller.gate) as reader:
        memories = [each.id async for page in pages(scratch.store.list_memories) for each in page]
        entities = [each.id async for page in pages(scratch.store.list_entities) for each in page]
        relations = [each async for page in pages(scratch.store.list_relations) for each in page]
        names = {each.id: each.name for each in await reader.get_entities(entities)}
        facts = [
            {"source": names[each.source_id], "type": each.type, "target": names[each.target_id], "fact": each.fact}
            for each in await reader.shown(relations)
        ]
        texts = [{"text": each.text, "labels": list(each.labels)} for each in await reader.get_memories(memories)]
        whole = await reader.sees_everything()
    return {"memories": texts, "entities": sorted(names.values()), "facts": facts}, whole
