"""Files of versions 1 and 2, which the graphsearch of 24 to 28 November 2026 exported, as those of version 3.

There the fields of an element stood beside what is recorded of it; codes were hexadecimal, and outcomes were pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from graphsearch.errors import InvalidInputError
from graphsearch.model.codec import Json

EARLIER: Final = (1, 2)
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "entity": ("given_type", "given_aliases", "named", "words", "attestation", "outcomes", "vector"),
    "memory": ("mentions", "claims", "merges", "outcomes", "vector"),
    "relation": ("folded", "given_ends", "lapsed_at", "attestation", "outcomes", "vector"),
    "merge": ("number", "held"),
}
"""What is recorded of an element, by kind."""


def header_now(found: Mapping[str, Json], version: int) -> dict[str, Json]:
    """The content of a header of an earlier version as one of this version."""
    beside = {name: found.get(name, {}) for name in ("counts", "vectors")}
    kept = {name: value for name, value in found.items() if name not in beside}
    own = found.get("settings")
    return {**kept, "version": version, "settings": {**own, **beside} if isinstance(own, dict) else own}


def record_now(content: Mapping[str, Json]) -> dict[str, Json]:
    """The object of a record of an earlier version as one of this version. Raises `InvalidInputError`."""
    try:
        return {kind: _now(kind, dict(fields)) for kind, fields in content.items()}
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise InvalidInputError("line", [f"has fields of the wrong kind: {error}"]) from error


def _now(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    if kind == "injection":
        return {**fields, "elements": _refs(fields["elements"])}
    if kind == "community":
        if summary := fields.get("summary"):
            sentences = [{**each, "cites": _refs(each["cites"])} for each in summary["sentences"]]
            fields["summary"] = {**summary, "sentences": sentences}
        return {"label": "", **fields}
    if kind not in _BESIDE:
        return fields
    if signature := fields.pop("signature", None):
        codes = {name: [int(code, 16) for code in signature.pop(name, ())] for name in ("evidence", "influences")}
        fields["attestation"] = {**signature, **codes}
    if outcomes := fields.pop("outcomes", None):
        pairs = enumerate(outcomes, 1)
        fields["outcomes"] = [{"session_id": session, "seq": seq, "outcome": each} for seq, (session, each) in pairs]
    for name in ("mentions", "claims") if kind == "memory" else ():
        fields[name] = [{"memory_id": fields["id"], **each} for each in fields.get(name, ())]
    if kind == "entity":
        fields = {"given_type": fields["type"], "given_aliases": fields.get("aliases", []), **fields}
    beside = {name: fields.pop(name) for name in _BESIDE[kind] if name in fields}
    return {kind: fields, **beside}


def _refs(pairs: Iterable[tuple[str, str]]) -> list[Json]:
    return [{"kind": kind, "id": key} for kind, key in pairs]
