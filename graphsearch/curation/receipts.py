"""Receipts of forgetting, which a third party can check.

A receipt names the forgotten memories, counts what went with them and what is left of them, which is nothing, and has a
salted hash of their content: whoever has kept the content can show that it was this, and nobody can read it from the
hash. Its own digest detects changes; it is no signature, so hand it on to somebody else, or sign it, where its author
is not trusted.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.paging import pages
from graphsearch.errors import InvalidInputError
from graphsearch.model import Claim, ElementKind, ElementRef, Memory, Mention, Scope
from graphsearch.model import validation as check
from graphsearch.model.validation import as_tuple
from graphsearch.protocols import GraphStore

VERSION: Final = "graphsearch receipt 1"

Content = Memory | Mention | Claim


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

    @property
    def intact(self) -> bool:
        """Whether it is as it was made."""
        return self.digest == self.expected()

    def covers(self, memories: Iterable[Memory], mentions: Iterable[Mention], claims: Iterable[Claim]) -> bool:
        """Whether its hash is of this content, as it was read from the store, in any order."""
        return self.content == content_hash(self.salt, digests(self.salt, [*memories, *mentions, *claims]))

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


def digests(salt: str, content: Iterable[Content]) -> list[bytes]:
    """The salted SHA-256 of each element."""
    texts = (_canonical([salt, type(each).__name__, attrs.asdict(each)]) for each in content)
    return [hashlib.sha256(text.encode()).digest() for text in texts]


def content_hash(salt: str, found: Iterable[bytes]) -> str:
    """The hash of content by the digests of its elements, in any order."""
    return hashlib.sha256(b"".join([salt.encode(), *sorted(found)])).hexdigest()


async def read_content(ids: Sequence[str], store: GraphStore) -> list[Content]:
    """Read memories with their mentions and claims."""
    mentions, claims = await store.list_mentions(memory_ids=ids), await store.list_claims(memory_ids=ids)
    return [*await store.get_memories(ids), *mentions, *claims]


async def count_remains(ids: Sequence[str], store: GraphStore, again: Collection[str] = ()) -> dict[str, int]:
    """Count what a store has of forgotten memories, by kind; without links to those written ``again``.

    Reads all relations of the scope.
    """
    gone, links = frozenset(ids), await store.memory_links(ids)
    found = {
        "memories": len(await store.get_memories(ids)),
        "mentions": len(await store.list_mentions(memory_ids=ids)),
        "claims": len(await store.list_claims(memory_ids=ids)),
        "links": sum(each.from_id not in again and each.to_id not in again for each in links),
        "outcomes": len(await store.outcomes([ElementRef(ElementKind.MEMORY, id_) for id_ in ids])),
        "relations": 0,
    }
    async for page in pages(store.list_relations):
        found["relations"] += sum(not gone.isdisjoint(each.evidence) for each in page)
    return {name: number for name, number in found.items() if number}


async def count_older(at: datetime, store: GraphStore) -> dict[str, int]:
    """Count what a store has from a time or before, by kind: a removed scope may have been made anew since."""
    found = Counter[str]()
    listed: Mapping[str, Callable[..., Awaitable[Sequence[Any]]]]
    listed = {"memories": store.list_memories, "entities": store.list_entities, "relations": store.list_relations}
    for name, read in listed.items():
        async for page in pages(read):
            found[name] += sum(each.created_at is None or each.created_at <= at for each in page)
    return {name: number for name, number in found.items() if number}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else dict(value)
