"""Inputs of every kind that graphsearch reads, changed by Hypothesis in a few places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from tests.integrations.team import PRIYA, SARAH

ROOT: Final = Path(__file__).parents[2]
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}


def _lines(*objects: object) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in objects)


def _request(method: str, **parameters: object) -> bytes:
    return _lines({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})


_ADA: Final = {"type": "person", "name": "Ada Lovelace", "aliases": ["Ada"], "labels": ["private"]}
_ACME: Final = {"type": "organisation", "name": "Acme"}
_MEMORY: Final = {
    "id": "m1",
    "text": "Ada Lovelace works at Acme Inc. since May 2023.",
    "occurred_at": "2024-05-01T09:00:00Z",
    "speaker": "Bob",
    "session_id": "s",
    "position": 3,
    "labels": ["x"],
    "attributes": {"sensitivity": 1, "owner": "ada"},
}
_CLAIM: Final = {"source": _ADA, "type": "works_at", "target": _ACME, "modality": 0.9}
_NOTE: Final = {**_MEMORY, "mentions": [{"surface": "Ada", "entity": _ADA}], "claims": [_CLAIM]}
_TURN: Final = {"speaker": "Ada", "content": "Bob leads Kestrel.", "time": "2024-05-01T09:00:00Z"}
_TEXT: Final = "Ada Lovelace works at Acme."
_MARKDOWN: Final = b"# Team\n\nAda works at Acme Inc. since *May 2023*.\n\n```\ncode\n```\n## [Bob](x.md) `x`\n- Ada\n"
_PYTHON: Final = b"""# -*- coding: utf-8 -*-
from . import a as b
from os import *

class A(b.B[int]):
    "A class."
    x: int = 1
    def f(self, *, y=lambda z: z):
        return self.f(y)[0]

async def g():
    match a:
        case [x, *_]: await x()
"""

SAMPLES: Final[Mapping[str, tuple[bytes, ...]]] = {
    "json lines": (
        _lines({"entity": _ADA}),
        _lines({"memory": _NOTE}),
        _lines({"relation": {"source": _ADA, "type": "knows", "target": _ACME, "confidence": 0.5, "since": "2024"}}),
    ),
    "memories": (_lines(_MEMORY, {"id": "m2", "text": "Bob knows Ada."}),),
    "scope": ((ROOT / "tests" / "moving" / "exports" / "scope.jsonl").read_bytes().rstrip(),),
    "transcript": (_lines([_TURN, {"role": "user", "content": "Ada works at Acme."}]),),
    "markdown": (_MARKDOWN, (ROOT / "docs" / "how-to" / "forget.md").read_bytes()),
    "python": (_PYTHON, (ROOT / "graphsearch" / "feedback.py").read_bytes()),
    "policy": tuple(path.read_bytes() for path in sorted((ROOT / "authz" / "policies").glob("*.cedar"))),
    "tool": (
        _lines({"query": "who leads search?", "limit": 3, "as_of": "2024-05-01T00:00:00Z"}),
        _lines({"query": "Priya", "id": str(PRIYA.id), "kind": "entity", "budget": 50, "session_id": "s", "seeds": 2}),
        _lines(
            {"entity": "Priya", "depth": 1, "limit": 5, "max_hops": 2, "since": "2024-01-01", "until": "2025-01-01"}
        ),
        _lines({"source": str(PRIYA.id), "target": str(SARAH.id), "dry_run": True, "max_hops": 3}),
        _lines({"text": _TEXT, "labels": ["private"], "occurred_at": "2024-05-01", "source": "chat"}),
        _lines({"turns": [_TURN], "session_id": "s", "outcome": "accepted", "memory": "m-lead"}),
        _lines({"from_id": "m-lead", "to_id": "m-report", "type": "x"}),
        _lines({"entity": "Priya", "name": "P", "type": "person", "aliases": ["Q"], "importance_weight": 0.5}),
    ),
    "http": (
        _request("tools/call", name="recall", arguments={"query": "who leads search?", "limit": 3}),
        _request("resources/read", uri=f"graphsearch://entity/{PRIYA.id}"),
        _request("prompts/get", name="context_for_task", arguments={"task": "find Priya"}),
        _lines(INITIALIZE),
    ),
}
_JSON: Final = frozenset({"json lines", "memories", "scope", "transcript", "tool", "http"})

_TOKENS: Final = (
    *rb"{ } [ ] ( ) , : ' \ / # * _ ` - + . ; = < > & | ! @ :: \u0000 \ud800 \n null true NaN 1e999 -Infinity".split(),
    *rb"-1 -0 0.1 [] {} 0000-00-00 9999-12-31T23:59:59.999999999-23:59 0001-01-01T00:00:00+14:00 24:00".split(),
    *(b'"', b'""', 3 * b'"', 3 * b"'", b"\n", b"\r", b"\t", b"\0", b"\x0b", b"\x1b", b"\x7f", b"\xff", b"\xc3"),
    *("\ufeff \u202e \u200b \u2028 İ Ł ß ﬁ ١".encode().split(b" ")),
    *(b"9" * 400, b"9" * 5_000, b"[" * 2_000, b"(" * 300, b'{"a":' * 2_000, b"- " * 500, b"!" * 300, b"#" * 300),
    *(b"lambda: ", b"yield ", b"permit(principal, action, resource);", b"when { ", b"context.", b'like "*"'),
    *(b"\xed\xa0\x80", b"Ada Lovelace " * 40),
)
_ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 10**400, 2**63, 0.5, -0.0, 1e308, "", " ", "\0", "\ud800", "\u202e", "x" * 4_001),
    *("m-lead", "Priya", str(PRIYA.id), "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
    *([], {}, [[]], [None], {"": 1}, ["x"] * 101, [{"surface": "x"}], {"type": "person", "name": "\ud800"}),
)
_values: Final = st.one_of(
    st.sampled_from(_ODD),
    st.sampled_from([token.decode(errors="replace") for token in _TOKENS]),
    st.text(max_size=8),
    st.integers(),
    st.floats(),
)
_edits: Final = st.lists(
    st.tuples(st.sampled_from("idrxs"), st.integers(0, 9_999), st.integers(0, 40), st.sampled_from(_TOKENS)), max_size=4
)


def inputs(kind: str) -> st.SearchStrategy[bytes]:
    """Samples with edits of their bytes, or where they are JSON mostly of their values; at times any bytes."""
    samples = st.sampled_from(SAMPLES[kind])
    changed = st.builds(_edited, samples, _edits)
    if kind not in _JSON:
        return st.one_of(changed, changed, changed, st.binary(max_size=40))
    replaced = st.lists(st.tuples(st.integers(0, 99), _values), max_size=2)
    others = st.builds(_replaced, samples, replaced)
    return st.one_of(others, others, others, changed)


def _edited(sample: bytes, changes: list[tuple[str, int, int, bytes]]) -> bytes:
    """Insert a token, delete or repeat a part, exchange it with a token, or move it to the beginning."""
    for what, where, length, token in changes:
        start = where * (len(sample) + 1) // 10_000
        before, part, rest = sample[:start], sample[start : start + length], sample[start + length :]
        sample = {
            "i": before + token + part + rest,
            "d": before + rest,
            "r": before + part + part + rest,
            "x": before + token + rest,
            "s": part + before + rest,
        }[what]
    return sample


def _replaced(sample: bytes, changes: list[tuple[int, Any]]) -> bytes:
    """Put values in the places of others, by the number of the place; each line is one JSON value."""
    lines = [json.loads(line) for line in sample.split(b"\n")]
    for place, value in changes:
        places = list(_places(lines))
        inside, key = places[place % len(places)]
        inside[key] = deepcopy(value)
    return b"\n".join(json.dumps(line).encode() for line in lines)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place inside of a JSON value, as what holds it and its key there."""
    if isinstance(value, (list, dict)):
        for key in range(len(value)) if isinstance(value, list) else list(value):
            yield value, key
            yield from _places(value[key])
