"""Receipts of forgetting: what was removed, when and on whose behalf, in a form that a third party can check.

A receipt names the forgotten memories and counts what went with them, and has a hash of their content, salted: whoever
has kept the content can show that it was this, and nobody can read it from the hash. Its own digest detects changes; it
is no signature, so hand it on to somebody else, or sign it, where its author is not trusted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.model import Claim, ElementKind, ElementRef, Memory, Mention, Scope, WriteReport
from graphsearch.model.validation import as_tuple
from graphsearch.protocols import GraphStore

VERSION: Final = "graphsearch receipt 1"
_PAGE: Final = 1_000


@attrs.frozen(kw_only=True)
class Receipt:
    """What one call of forgetting removed.

    ``by`` is `Principal.qualified_id` of whoever forgot. ``memories`` are ids, in order; ``removed`` are the counts of
    the `WriteReport` that are not 0. ``content`` is the SHA-256 of the memories with their mentions and claims, and of
    the ``salt``; see `covers`. ``digest`` is the SHA-256 of all other fields, as canonical JSON.
    """

    scope: Scope
    at: datetime
    by: str
    memories: tuple[str, ...] = attrs.field(converter=as_tuple)
    removed: Mapping[str, int]
    salt: str
    content: str
    digest: str = attrs.field(default=attrs.Factory(lambda self: self.expected(), takes_self=True))

    @property
    def intact(self) -> bool:
        """Whether it is as it was made."""
        return self.digest == self.expected()

    def covers(self, memories: Iterable[Memory], mentions: Iterable[Mention], claims: Iterable[Claim]) -> bool:
        """Whether its hash is of this content, as it was read from the store, in any order."""
        return self.content == content_of(self.salt, memories, mentions, claims)

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
            fields = json.loads(text)
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
    for start in range(0, len(ids), _PAGE):
        some = ids[start : start + _PAGE]
        memories += await store.get_memories(some)
        mentions += await store.list_mentions(memory_ids=some)
        claims += await store.list_claims(memory_ids=some)
    return memories, mentions, claims


def receipt_of(
    report: WriteReport,
    content: tuple[Sequence[Memory], Sequence[Mention], Sequence[Claim]],
    *,
    store: GraphStore,
    by: str,
) -> Receipt:
    """The receipt of a forgetting, of which ``content`` was read just before."""
    counts = {name: value for name, value in attrs.asdict(report).items() if isinstance(value, int) and value}
    salt = secrets.token_hex(16)
    return Receipt(
        scope=store.scope,
        at=store.clock.now(),
        by=by,
        memories=sorted(memory.id for memory in content[0]),
        removed=counts,
        salt=salt,
        content=content_of(salt, *content),
    )


def content_of(salt: str, memories: Iterable[Memory], mentions: Iterable[Mention], claims: Iterable[Claim]) -> str:
    """The SHA-256 of a salt and some content, in any order."""
    every: list[Memory | Mention | Claim] = [*memories, *mentions, *claims]
    found = sorted(_canonical([type(each).__name__, attrs.asdict(each)]) for each in every)
    return hashlib.sha256(_canonical([salt, *found]).encode()).hexdigest()


async def verification_of(receipt: Receipt, store: GraphStore) -> Verification:
    """Check a receipt against a store: that it is as it was made, and that nothing of what it names is left.

    Raises `InvalidInputError` for a store of another scope. Reads all relations of the scope.
    """
    if receipt.scope != store.scope:
        raise InvalidInputError("receipt", [f"is of the scope {receipt.scope}, and the store of {store.scope}"])
    async with store.snapshot():
        stored = await store.get_memories(receipt.memories)
        again = {each.id for each in stored if each.created_at is not None and each.created_at > receipt.at}
        ids = [id_ for id_ in receipt.memories if id_ not in again]
        memories, mentions, claims = await read_content(ids, store)
        links = [each for each in await store.memory_links(ids) if not again.intersection((each.from_id, each.to_id))]
        found = {
            "memories": len(memories),
            "mentions": len(mentions),
            "claims": len(claims),
            "links": len(links),
            "outcomes": len(await store.outcomes([ElementRef(ElementKind.MEMORY, id_) for id_ in ids])),
            "relations": await _resting_on(frozenset(ids), store),
        }
        left = {name: number for name, number in found.items() if number}
    return Verification(intact=receipt.intact, left=left, again=tuple(sorted(again)))


async def _resting_on(ids: frozenset[str], store: GraphStore) -> int:
    """The number of relations that name some memories as evidence."""
    count, after = 0, None
    while page := await store.list_relations(after=after, limit=_PAGE):
        count += sum(not ids.isdisjoint(each.evidence) for each in page)
        after = page[-1].id
    return count


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else dict(value)
