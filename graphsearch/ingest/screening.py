"""What is done to texts before anything is stored: secrets and personal data are replaced, instructions are flagged.

Secrets are found by detect-secrets (keys and tokens of services, passwords after a keyword, private keys), personal
data by datafog (e-mail addresses, phone numbers, social security numbers, payment cards, addresses of hosts). Both run
here and ask no network. What they do not recognize stays: names of people are what a graph is about, and no detector
is complete.

Blocks render stored texts as data, whatever they say. The label of what is addressed to a language model lets policies
hide such texts, and operators find them. A text is flagged for what ordinary prose has no use for: the control tokens
by which chat templates separate messages, and sentences that order the reader to disregard their instructions. A text
that orders something in other words is not recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import attrs

from graphsearch._support.lazy import load, require
from graphsearch.model import validation as check

EXTRA: Final = "redaction"
PERSONAL: Final = ("email", "phone", "ssn", "credit_card", "ip_address")
"""Kinds of personal data."""
_SECRET: Final = "secret"  # noqa: S105 - a word

_WINDOW: Final = 4_000
"""Characters searched at a time: some patterns of the detectors take quadratic time."""
_OVERLAP: Final = 1_000
"""Characters of a window that the next one searches again, so that what lies across its end is found."""
_KEYWORD: Final = "Secret Keyword"
_GUESSING: Final = frozenset({"Base64 High Entropy String", "Hex High Entropy String", "Public IP (ipv4)"})
"""Detectors of detect-secrets that are not for secrets alone: they find ids and digests."""
_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\Z)", re.DOTALL)

_TOKEN: Final = re.compile(r"[\w\-+/=~]+(?:\.[\w\-+/=~]+)*|(?:\.[\w\-+/=~]+)+")
"""What a key may go on with."""

_Found = tuple[int, int, str]
"""Start, end and kind."""


@attrs.frozen
class Redaction:
    """Replaces secrets and personal data of a text, each with "[redacted KIND]".

    * ``secrets``: whether secrets are replaced.
    * ``personal``: the kinds of personal data that are: all of `PERSONAL` by default.

    Redacting twice changes nothing more. Raises `MissingExtraError` without the extra "redaction", and
    `InvalidInputError` for an unknown kind.
    """

    secrets: bool = True
    personal: Sequence[str] = attrs.field(default=PERSONAL, converter=check.as_tuple)

    def __attrs_post_init__(self) -> None:
        unknown = [kind for kind in self.personal if kind not in PERSONAL]
        check.refuse(
            "redaction",
            check.truth("secrets", self.secrets),
            *(f"there is no kind {kind!r} of personal data; the kinds are {', '.join(PERSONAL)}" for kind in unknown),
        )
        for package in ("datafog", "detect_secrets"):
            require(package, extra=EXTRA, purpose="Redaction")

    @property
    def name(self) -> str:
        """What is redacted, in a word: texts are read again if it changes."""
        return "redact:" + ",".join((*([_SECRET] if self.secrets else ()), *sorted(self.personal)))

    def redact(self, text: str) -> str:
        """The text without what is found. It takes time linear in its length."""
        parts, done = [], 0
        for start, end, kind in _apart(self._found(text)):
            parts += [text[done:start], f"[redacted {kind.replace('_', ' ')}]"]
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def _found(self, text: str) -> Iterator[_Found]:
        if self.secrets:
            yield from ((match.start(), match.end(), _SECRET) for match in _PRIVATE_KEY.finditer(text))
        for at in range(0, max(len(text) - _OVERLAP, 1), _WINDOW - _OVERLAP):
            window = text[at : at + _WINDOW]
            if self.secrets:
                for start, end in _secrets(window):
                    yield at + start, _end_of_token(text, at + end), _SECRET
            if self.personal:
                scan = load("datafog", extra=EXTRA, purpose="Redaction").scan
                found = scan(window, engine="regex", entity_types=[kind.upper() for kind in self.personal])
                yield from ((at + each.start, at + each.end, each.type.lower()) for each in found.entities)


@cache
def _detectors() -> tuple[Sequence[re.Pattern[str]], Any]:
    """The patterns of secrets, and the detector of what follows a keyword."""
    found = load("detect_secrets.core.plugins.util", extra=EXTRA, purpose="Redaction")
    plugins = found.get_mapping_from_secret_type_to_class()
    chosen = [plugins[kind]() for kind in sorted(plugins) if kind not in {*_GUESSING, _KEYWORD}]
    return [pattern for each in chosen for pattern in getattr(each, "denylist", ())], plugins[_KEYWORD]()


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    patterns, keyword = _detectors()
    for pattern in patterns:
        yield from (match.span() for match in pattern.finditer(text))
    at = 0
    for line in text.splitlines(keepends=True):
        for value in keyword.analyze_string(line):
            yield from ((at + match.start(), at + match.end()) for match in re.finditer(re.escape(value), line))
        at += len(line)


def _end_of_token(text: str, end: int) -> int:
    """The end of the token that a secret is part of: the detectors leave out signatures, and what is after a window.

    A full stop at its end is that of a sentence.
    """
    rest = _TOKEN.match(text, end)
    return end if rest is None else rest.end()


def _apart(found: Iterable[_Found]) -> Iterator[_Found]:
    """What was found, in order, joined where it overlaps; the kind is that of the first of them, and of the longest."""
    last: _Found | None = None
    for start, end, kind in sorted(found, key=lambda each: (each[0], -each[1], each[2])):
        if last is None or start >= last[1]:
            if last is not None:
                yield last
            last = (start, end, kind)
        else:
            last = (last[0], max(last[1], end), last[2])
    if last is not None:
        yield last


# -- instructions ------------------------------------------------------------------------------------------------------

INSTRUCTIONS: Final = "instructions"
"""The label."""

_CONTROL: Final = re.compile(
    r"<\|[a-z_]{2,20}\|>"  # ChatML, Llama 3, Phi
    r"|\[/?INST\]|<</?SYS>>"  # Llama 2, Mistral
    r"|</?(?:function_calls|tool_call|tool_response|antml:\w+)\b[^>\n]{0,80}>"  # tool calls
    r"|^[ \t]*###[ \t]*(?:system|instruction|assistant|response|human)[ \t]*:[ \t]*$",  # Alpaca, Vicuna
    re.IGNORECASE | re.MULTILINE,
)
_DISREGARD: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b(?:\s+(?:all|any|every|the|your|of|these|those)\b){0,4}"
    r"\s+(?:(?:previous|prior|above|earlier|preceding|existing|original|system|safety)\s+){1,3}"
    r"(?:instruction|prompt|rule|message|direction|directive|guideline|policy|policie|context)s?\b",
    re.IGNORECASE,
)


@attrs.frozen
class InstructionFlag:
    """Flags texts with instructions to a language model by the label "instructions"."""

    name = "flag:instructions"

    def labels(self, text: str) -> Iterable[str]:
        """The labels of a text: "instructions", or none."""
        return (INSTRUCTIONS,) if _CONTROL.search(text) or _DISREGARD.search(text) else ()
