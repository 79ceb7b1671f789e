"""Forget memories: one, or all that are somebody's, from a source, or past their time; and remove whole scopes.

A receipt of that, which a third party can check, names the forgotten memories, counts what went with them and what is
left of them, which is nothing, and has a salted hash of their content: whoever has kept the content can show that it
was this, and nobody can read it from the hash. Its own digest detects changes; it is no signature, so hand it on to
somebody else, or sign it, where its author is not trusted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, TypedDict
from uuid import UUID

import attrs

from graphsearch._support.paging import PAGE, pages
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation.entity_changes import embed_again
from graphsearch.curation.permissions import Access
from graphsearch.errors import InvalidInputError
from graphsearch.model import Action, Claim, ElementKind, ElementRef, Memory, Mention, Scope, WriteReport
from graphsearch.model import validation as check
from graphsearch.model.validation import as_tuple
from graphsearch.protocols import GraphStore
from graphsearch.protocols.reading import MemoryFilters

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


class Forgotten(TypedDict, total=False):
    """The options of `Curator.forget`: give one of them, or the id of a memory.

    * ``session_id`` and ``source``: those of the memories. ``subject``: what they are about, as they state it.
    * ``owner``: their attribute of that name, as policies read it. ``label``: one of their labels.
    """

    session_id: str | None
    source: str | None
    subject: str | None
    owner: str | None
    label: str | None


def who(access: Access) -> str:
    """Name whoever forgets, as receipts do."""
    return (access.gate or ALLOW_ALL).principal.qualified_id


async def to_forget(memory: str | None, which: Forgotten, access: Access) -> list[str]:
    """The ids of the memories to forget, after checking that each of them may be forgotten."""
    given = {name: value for name, value in which.items() if value is not None}
    names = ("memory", *Forgotten.__annotations__)
    check.refuse(
        "forgetting",
        None if len(given) + (memory is not None) == 1 else f"give one of {', '.join(names)}",
        *(check.text(name, value) for name, value in given.items()),
    )
    if memory is None:
        return await allowed({**which, "before": None}, access)
    async with access.reading() as reader:
        found = await reader.get_memories([memory])
    await access.demand(Action.FORGET, found)
    return [each.id for each in found]


async def allowed(filters: MemoryFilters, access: Access) -> list[str]:
    """The ids of all visible memories that pass the filters, after checking that each of them may be forgotten."""
    ids: list[str] = []
    async with access.reading() as reader:
        async for page in pages(access.store.list_memories, **filters):
            shown = await reader.get_memories([memory.id for memory in page])
            await access.demand(Action.FORGET, shown)
            ids += [memory.id for memory in shown]
    return ids


async def forget(ids: Sequence[str], access: Access) -> WriteReport:
    """Forget page by page, each in a transaction of its own, and add up the reports."""
    total = WriteReport()
    for start in range(0, len(ids), PAGE):
        total = _sum(total, await access.store.forget(ids[start : start + PAGE]))
    await embed_again(total.reworded, access.engine)
    return WriteReport(memories=total.memories) if access.gated else total


def _sum(one: WriteReport, other: WriteReport) -> WriteReport:
    names = [field.name for field in attrs.fields(WriteReport)]
    return WriteReport(**{name: getattr(one, name) + getattr(other, name) for name in names})


VERSION: Final = "graphsearch receipt 1"


@attrs.frozen(kw_only=True)
class Receipt:
    """What one call of forgetting removed.

    ``by`` is `Principal.qualified_id` of whoever forgot. ``memories`` are ids, in order; of a ``whole`` scope that was
    removed there are none. ``removed`` are the counts of the `WriteReport` that are not 0, and ``left`` counts what the
    store still had of the memories right afterwards, by kind. ``content`` is the SHA-256 of the memories with their
    mentions and claims, and of the ``salt``; see `covers`. ``digest`` is the SHA-256 of all other fields, as canonical
    JSON.
    """

    scope: Scope
    at: datetime
    by: str
    memories: tuple[str, ...] = attrs.field(converter=as_tuple)
    removed: Mapping[str, int]
    salt: str
    content: str
    whole: bool = False
    left: Mapping[str, int] = attrs.field(factory=dict)
    digest: str = attrs.field(default=attrs.Factory(lambda self: self.expected(), takes_self=True))

    @classmethod
    def of(
        cls,
        report: WriteReport,
        content: ContentHash,
        *,
        store: GraphStore,
        by: str,
        memories: Iterable[str] = (),
        whole: bool = False,
        left: Mapping[str, int] | None = None,
    ) -> Receipt:
        """The receipt of a forgetting, of which ``content`` was read just before."""
        return cls(
            scope=store.scope,
            at=store.clock.now(),
            by=by,
            memories=sorted(memories),
            removed={name: value for name, value in attrs.asdict(report).items() if isinstance(value, int) and value},
            salt=content.salt,
            content=content.result(),
            whole=whole,
            left=left or {},
        )

    @property
    def intact(self) -> bool:
        """Whether it is as it was made."""
        return self.digest == self.expected()

    def covers(self, memories: Iterable[Memory], mentions: Iterable[Mention], claims: Iterable[Claim]) -> bool:
        """Whether its hash is of this content, as it was read from the store, in any order."""
        content = ContentHash(self.salt)
        content.add(memories, mentions, claims)
        return self.content == content.result()

    def expected(self) -> str:
        """The digest of its other fields."""
        return hashlib.sha256(_canonical(self._fields()).encode()).hexdigest()

    def to_json(self) -> str:
        """The receipt as a JSON object."""
        return _canonical({**self._fields(), "digest": self.digest})

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt that `to_json` gave, also if it was changed since; `InvalidInputError` for anything else."""
        try:
            fields = check.parse_json(text)
            if fields.pop("version") != VERSION:
                raise InvalidInputError("receipt", [f"is of another version than {VERSION!r}"])
            scope = Scope(*fields.pop("scope"))
            return cls(scope=scope, at=datetime.fromisoformat(fields.pop("at")), **fields)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError("receipt", [f"is none: {error}"]) from error

    def _fields(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(Receipt) if field.name != "digest"}
        return {"version": VERSION, **fields, "scope": [self.scope.org_id, self.scope.project_id]}


@attrs.frozen(kw_only=True)
class Verification:
    """What a check of a receipt found.

    ``left`` counts what the store still has of the forgotten memories, by kind; ``again`` are ids of those that were
    written again after they were forgotten, of which nothing else is checked.
    """

    intact: bool
    left: Mapping[str, int]
    again: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the receipt is intact, and nothing of what it names is left."""
        return self.intact and not self.left


async def read_content(ids: Sequence[str], store: GraphStore) -> tuple[list[Memory], list[Mention], list[Claim]]:
    """Memories with their mentions and claims."""
    memories: list[Memory] = []
    mentions: list[Mention] = []
    claims: list[Claim] = []
    for start in range(0, len(ids), PAGE):
        some = ids[start : start + PAGE]
        memories += await store.get_memories(some)
        mentions += await store.list_mentions(memory_ids=some)
        claims += await store.list_claims(memory_ids=some)
    return memories, mentions, claims


@attrs.define(eq=False)
class ContentHash:
    """The SHA-256 of a salt and of memories, mentions and claims, which are added in any order and any parts."""

    salt: str
    _found: list[bytes] = attrs.field(factory=list)

    @classmethod
    def new(cls) -> ContentHash:
        """With a salt of its own."""
        return cls(secrets.token_hex(16))

    def add(self, memories: Iterable[Memory], mentions: Iterable[Mention], claims: Iterable[Claim]) -> None:
        """Add some content."""
        every: list[Memory | Mention | Claim] = [*memories, *mentions, *claims]
        self._found += [
            hashlib.sha256(_canonical([self.salt, type(each).__name__, attrs.asdict(each)]).encode()).digest()
            for each in every
        ]

    def result(self) -> str:
        """The hash of what was added so far."""
        return hashlib.sha256(b"".join([self.salt.encode(), *sorted(self._found)])).hexdigest()


async def verification_of(receipt: Receipt, store: GraphStore) -> Verification:
    """Check a receipt of a store's scope: that it is as it was made, and that nothing of what it names is left.

    Reads all relations of the scope.
    """
    async with store.snapshot():
        if receipt.whole:
            return Verification(intact=receipt.intact, left=await _older(receipt.at, store))
        stored = await store.get_memories(receipt.memories)
        again = {each.id for each in stored if each.created_at is not None and each.created_at > receipt.at}
        ids = [id_ for id_ in receipt.memories if id_ not in again]
        left = await remains(ids, store, again)
    return Verification(intact=receipt.intact, left=left, again=tuple(sorted(again)))


async def remains(ids: Sequence[str], store: GraphStore, again: Collection[str] = ()) -> dict[str, int]:
    """The counts of what a store has of forgotten memories, by kind; without links to those written ``again``.

    Reads all relations of the scope.
    """
    async with store.snapshot():
        memories, mentions, claims = await read_content(ids, store)
        links = [each for each in await store.memory_links(ids) if not {each.from_id, each.to_id} & set(again)]
        found = {
            "memories": len(memories),
            "mentions": len(mentions),
            "claims": len(claims),
            "links": len(links),
            "outcomes": len(await store.outcomes([ElementRef(ElementKind.MEMORY, id_) for id_ in ids])),
            "relations": await _resting_on(frozenset(ids), store),
        }
    return {name: number for name, number in found.items() if number}


async def _older(at: datetime, store: GraphStore) -> dict[str, int]:
    """The counts of what a store has from a time or before, by kind; a removed scope may have been made anew since."""
    listed: Mapping[str, Callable[..., Awaitable[Sequence[Any]]]] = {
        "memories": store.list_memories,
        "entities": store.list_entities,
        "relations": store.list_relations,
    }
    found: dict[str, int] = {}
    for name, read in listed.items():
        async for page in pages(read):
            found[name] = found.get(name, 0) + sum(each.created_at is None or each.created_at <= at for each in page)
    return {name: number for name, number in found.items() if number}


async def _resting_on(ids: frozenset[str], store: GraphStore) -> int:
    """The number of relations that name some memories as evidence."""
    count = 0
    async for page in pages(store.list_relations):
        count += sum(not ids.isdisjoint(each.evidence) for each in page)
    return count


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else dict(value)
