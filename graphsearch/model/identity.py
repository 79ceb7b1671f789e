"""Normalised names and the ids derived from them: pure, and the same in every process."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID, uuid5

_ENTITY: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c01")
_RELATION: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c02")
_SEPARATOR: Final = "\x1f"  # cannot be typed by accident, so ("a b", "c") and ("a", "b c") stay apart

CASE_SENSITIVE_TYPES: Final = frozenset({"module", "class", "function", "file", "url"})

_WORD_BREAK = re.compile(r"[^\w]+|(?<=[a-z0-9])(?=[A-Z])", re.UNICODE)


def snake_case(name: str) -> str:
    """The lower_snake_case form of a type's name: "reportsTo", "Reports To" and "REPORTS_TO" are one type."""
    return _snake_case(name)


@lru_cache(maxsize=4096)
def _snake_case(name: str) -> str:
    parts = (part for part in _WORD_BREAK.split(unicodedata.normalize("NFKC", name)) if part)
    return re.sub(r"__+", "_", "_".join(parts).casefold()).strip("_")


def normalise_name(name: str, entity_type: str = "") -> str:
    """The form in which names are compared: NFKC, whitespace collapsed, case folded.

    Names of code, files and URLs keep their case, which is significant there.
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).split())
    return folded if entity_type in CASE_SENSITIVE_TYPES else folded.casefold()


def id_or_name(text: str) -> UUID | str:
    """A reference to an entity: the id that the text is, else the text, a name or an alias."""
    try:
        return UUID(text)
    except ValueError:
        return text


@lru_cache(maxsize=1 << 14)
def entity_id(entity_type: str, name: str) -> UUID:
    """UUIDv5 of (type, normalised name)."""
    kind = snake_case(entity_type)
    return uuid5(_ENTITY, f"{kind}{_SEPARATOR}{normalise_name(name, kind)}")


@lru_cache(maxsize=1 << 14)
def keyed_id(plain: UUID, key: UUID) -> UUID:
    """What ingest mints in place of an `entity_id`: without the key of the scope it tells neither type nor name."""
    return uuid5(key, str(plain))


def ids_of(entity_type: str, name: str, key: UUID) -> tuple[UUID, UUID]:
    """The ids by which a scope may know (type, name): the one of an application, and the one that ingest mints."""
    plain = entity_id(entity_type, name)
    return plain, keyed_id(plain, key)


def relation_id(source_id: UUID, relation_type: str, target_id: UUID, start: datetime | None) -> UUID:
    """UUIDv5 of (source, type, target, start of the period); an open start is a value of its own."""
    moment = "" if start is None else str(round(start.timestamp() * 1_000_000))
    return uuid5(_RELATION, _SEPARATOR.join((str(source_id), snake_case(relation_type), str(target_id), moment)))
