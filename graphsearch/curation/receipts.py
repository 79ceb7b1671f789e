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
from typing import Any, Final

import attrs

from graphsearch._support.paging import pages
from graphsearch.errors import InvalidInputError
from graphsearch.model import Claim, ElementKind, ElementRef, Memory, Mention, Scope
from graphsearch.model import validation as check
from graphsearch.model.codec import decode, encode
from graphsearch.model.validation import as_tuple
from graphsearch.stores.graph import GraphStore

VERSION: Final = "graphsearch receipt 2"

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
        fields = {field.name: encode(getattr(self, field.name)) for field in attrs.fields(Receipt)[:-1]}
        return _sha256(_canonical({"version": VERSION, **fields})).hex()

    def to_json(self) -> str:
        """The receipt as a JSON object."""
        return _canonical({"version": VERSION, **encode(self)})

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt that `to_json` gave, also if it was changed since; `InvalidInputError` for anything else."""
        try:
            fields = check.parse_json(text)
        except ValueError as error:
            raise InvalidInputError("receipt", [f"is not JSON: {error}"]) from error
        if not isinstance(fields, dict) or fields.pop("version", None) != VERSION:
            raise InvalidInputError("receipt", [f"must be an object of the version {VERSION!r}"])
        return decode(cls, fields, "receipt")


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
    return [_sha256(_canonical([salt, type(each).__name__, encode(each)])) for each in content]


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
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
