"""A queue of review: what principals would change waits as proposals, which somebody else accepts or rejects.

Nothing proposed is in the graph before it is accepted. Then it is run, once, on behalf of whoever proposed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.concurrency import finished
from graphsearch.access.reader import reading
from graphsearch.access.references import known
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, InvalidInputError, UnknownElementError, UnknownScopeError
from graphsearch.model import Action, ElementKind, Principal
from graphsearch.model.codec import encode
from graphsearch.model.identity import id_or_name
from graphsearch.model.proposals import Proposal, ProposalState, Proposed
from graphsearch.model.signatures import Resource
from graphsearch.operations.operation import Operation
from graphsearch.operations.service import Caller, Identity
from graphsearch.stores.memory import InMemoryGraphStore

INTERRUPTED: Final = timedelta(hours=1)
"""The age of a run from which on its process counts as gone: it may be decided on again."""
_CHANGES: Final = (Action.WRITE, Action.MERGE, Action.FORGET)
_PAGE: Final = 100
_MOST: Final = 100_000


@attrs.frozen(kw_only=True)
class Preview:
    """A proposal, and what it would change.

    Where the principal may not see all of that, the request is ``withheld``, and the change is what may be seen of it.
    """

    proposal: Proposal
    change: Mapping[str, Any]
    withheld: bool


def only_reads(operation: Operation, request: Any) -> bool:
    """Whether a call changes nothing: it reads, or is a dry run."""
    return operation.reads or getattr(request, "dry_run", False)


def waits(operation: Operation, request: Any) -> bool:
    """Whether a call is one that review is for: it would change the graph."""
    return operation.permission in _CHANGES and not only_reads(operation, request)


async def propose(caller: Caller, operation: Operation, request: Any) -> Proposed:
    """Store a call as a proposal. Raises what a dry run raises.

    Raises `AccessDeniedError` where its principal could not change elements of any kind that have its labels.
    """
    store = caller.engine.store
    proposal = Proposal(
        operation=operation.name,
        request=encode(request, sparse=True),
        labels=getattr(request, "labels", None) or (),
        principal=caller.gate.principal,
        created_at=store.clock.now(),
    )
    bound = caller.gate.bind(store.scope, operation.permission)
    if not any(await bound.permits([_as_seen(proposal, kind) for kind in ElementKind])):
        raise AccessDeniedError(operation.permission.value)
    if hasattr(request, "dry_run"):
        with suppress(UnknownScopeError):  # where nothing was ever written, the proposal is the first
            await operation.run(caller, attrs.evolve(request, dry_run=True))
    await store.propose(proposal)
    return Proposed(proposed=proposal.id)


async def proposals(
    caller: Caller, *, state: ProposalState = ProposalState.WAITING, limit: int = 20
) -> tuple[Proposal, ...]:
    """List what waits for review, or what became of it, the oldest first: your own, and what you may review."""
    found, after = list[Proposal](), None
    while len(found) < limit and (page := await caller.engine.store.proposals(state=state, after=after, limit=_PAGE)):
        found += await _visible(caller, page)
        after = page[-1].id
    return tuple(_listed(caller, each) for each in found[:limit])


async def preview(caller: Caller, *, proposal: UUID) -> Preview:
    """Show a proposal and what it would change, as far as you may see that.

    What would be remembered is read as in an empty project, by the extractor of the service.
    """
    found, change, whole = await _known(caller, proposal), dict[str, Any](), True
    if found.request:
        try:
            change, whole = await _change(caller, found)
        except (UnknownElementError, UnknownScopeError, AccessDeniedError):
            whole = False
    request = found.request if whole else {}
    return Preview(proposal=attrs.evolve(_listed(caller, found), request=request), change=change, withheld=not whole)


async def accept(caller: Caller, *, proposal: UUID, comment: str = "") -> Proposal:
    """Run a proposal of somebody else on their behalf, once; if that fails, it waits again."""
    return await finished(_run(caller, proposal, comment))  # also if whoever accepts it does not wait for the end


async def reject(caller: Caller, *, proposal: UUID, comment: str = "") -> Proposal:
    """Turn a proposal of somebody else down: nothing of it is kept but your comment."""
    return _listed(caller, await _decide(caller, proposal, ProposalState.REJECTED, comment))


# -- who may review ---------------------------------------------------------------------------------------------------


def _as_seen(proposal: Proposal, kind: ElementKind = ElementKind.MEMORY) -> Resource:
    """A proposal as policies see it: an element with the labels of its request, whose owner is its principal."""
    return Resource(kind=kind, labels=proposal.labels, owner=proposal.principal.id)


def _operation(proposal: Proposal) -> Operation:
    from graphsearch.operations.table import operations  # noqa: PLC0415 - the table has rows of this module

    return operations()[proposal.operation]


async def _visible(caller: Caller, some: Sequence[Proposal]) -> list[Proposal]:
    """Those that the principal has made, has decided on or may review."""
    bound, who = caller.gate.bind(caller.engine.store.scope, Action.REVIEW), caller.gate.principal.qualified_id
    allowed = await bound.permits(list(map(_as_seen, some)))
    return [
        each
        for each, allow in zip(some, allowed, strict=True)
        # of what has ended it is not known any more whom its labels would have hidden it from
        if (allow and not (each.had_labels and each.has_ended)) or who in (each.proposed_by, each.decided_by)
    ]


async def _known(caller: Caller, proposal_id: UUID) -> Proposal:
    found = await _visible(caller, await caller.engine.store.proposals([proposal_id]))
    if not found:
        raise UnknownElementError(f"no proposal {proposal_id} in {caller.engine.store.scope}")
    return found[0]


def _listed(caller: Caller, proposal: Proposal) -> Proposal:
    """What is listed of a proposal: not its request, nor the outcome, which counts what its principal may see."""
    who = proposal.principal
    if caller.gate.principal.qualified_id == proposal.proposed_by:
        return attrs.evolve(proposal, request={})
    return attrs.evolve(proposal, request={}, outcome={}, principal=Principal(id=who.id, type=who.type))


# -- deciding ---------------------------------------------------------------------------------------------------------


async def _decide(caller: Caller, proposal_id: UUID, state: ProposalState, comment: str) -> Proposal:
    """Decide on a proposal of somebody else that is open, and return it as it is now."""
    store, was = caller.engine.store, await _known(caller, proposal_id)
    now, by = store.clock.now(), caller.gate.principal.qualified_id
    if by == was.proposed_by and not caller.gate.allows_all:
        raise AccessDeniedError(Action.REVIEW.value)
    interrupted = was.state is ProposalState.RUNNING and was.decided_at and now - was.decided_at >= INTERRUPTED
    decided = attrs.evolve(was, state=ProposalState.RUNNING, decided_by=by, decided_at=now, comment=comment)
    decided = decided if state is ProposalState.RUNNING else decided.end(state)
    is_open = was.state is ProposalState.WAITING or interrupted
    if not (is_open and await store.decide(was, decided)):
        raise InvalidInputError(f"proposal {proposal_id}", ["is decided already, or being run"])
    return decided


async def _run(caller: Caller, proposal_id: UUID, comment: str) -> Proposal:
    """Decide to run a proposal, and run it."""
    running = await _decide(caller, proposal_id, ProposalState.RUNNING, comment)
    store, operation = caller.engine.store, _operation(running)
    try:
        proposer = caller.service.caller(Identity(running.principal, store.scope))
        result = encode(await operation.run(proposer, operation.read(running.request)))
    except Exception:
        again = attrs.evolve(running, state=ProposalState.WAITING, decided_by="", decided_at=None, comment="")
        await store.decide(running, again)
        raise
    accepted = running.end(ProposalState.ACCEPTED, _counts(result))
    await store.decide(running, accepted)
    return _listed(caller, accepted)


def _counts(result: Any) -> Mapping[str, Any]:
    """The ids and numbers of a result, and the lengths of its lists: no text, which may be forgotten later."""
    given = result if isinstance(result, dict) else {"result": result}
    counted = {name: len(each) if isinstance(each, list) else each for name, each in given.items()}
    return {
        name: each
        for name, each in counted.items()
        if isinstance(each, int | float) or (isinstance(each, str) and isinstance(id_or_name(each), UUID))
    }


# -- what it would change ---------------------------------------------------------------------------------------------


async def _change(caller: Caller, proposal: Proposal) -> tuple[dict[str, Any], bool]:
    """What a proposal would change, read through the gate of the caller, and whether that is all of it."""
    operation = _operation(proposal)
    request = operation.read(proposal.request)
    if operation.name == "remember":
        return await _stated(caller, proposal.principal, operation, request)
    if hasattr(request, "dry_run"):
        return encode(await operation.run(caller, attrs.evolve(request, dry_run=True))), True
    async with reading(caller.engine.store, gate=caller.gate) as reader:
        entities = [await known(each, reader, exactly=True) for each in _given(request, "entity", "one", "other")]
        memories = _given(request, "memory", "from_id", "to_id")
        whole = len(await reader.get_memories(memories)) == len(memories)
    change = encode(request, sparse=True) if whole else {}
    if operation.name == "update_entity":
        after = {name: each for name, each in change.items() if name != "entity"}
        return {"before": {name: encode(getattr(entities[0], name)) for name in after}, "after": after}, True
    return change, whole


def _given(request: Any, *names: str) -> list[Any]:
    return [value for name in names if (value := getattr(request, name, None))]


async def _stated(caller: Caller, who: Principal, operation: Operation, request: Any) -> tuple[dict[str, Any], bool]:
    """What would be remembered, as an empty project reads it: the memories, and the entities and facts of these."""
    store = caller.engine.store
    empty = InMemoryGraphStore(clock=store.clock, analyser=store.analyser)
    scratch = empty.with_scope(org_id=store.scope.org_id, project_id=store.scope.project_id)
    service = attrs.evolve(caller.service, engine_of=lambda _: GraphSearchEngine(store=scratch))
    await operation.run(service.caller(Identity(who, store.scope)), request)
    async with reading(scratch, gate=caller.gate) as reader:
        memories = await reader.get_memories([each.id for each in await scratch.list_memories(limit=_MOST)])
        entities = await reader.get_entities([each.id for each in await scratch.list_entities(limit=_MOST)])
        relations = await reader.shown(await scratch.list_relations(limit=_MOST))
        whole = await reader.sees_everything()
    names = {each.id: each.name for each in entities}
    shown = [each for each in relations if {each.source_id, each.target_id} <= names.keys()]
    return {
        "memories": [{"text": each.text, "labels": list(each.labels)} for each in memories],
        "entities": [{"name": each.name, "type": each.type} for each in sorted(entities, key=lambda each: each.name)],
        "facts": sorted(f"{names[each.source_id]} {each.type} {names[each.target_id]}" for each in shown),
    }, whole
