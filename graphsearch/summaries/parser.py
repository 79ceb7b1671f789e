"""Parse the output of a language model to sentences with their sources, or to a list of all its faults: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from graphsearch.errors import LLMAnswerError
from graphsearch.model import validation as check
from graphsearch.protocols import TokenCounter
from graphsearch.summaries.cited_summary import Sentence, Source
from graphsearch.text.rendering import safe_text

MOST_SENTENCES: Final = 100
LONGEST_SENTENCE: Final = 4_000
"""Characters."""
MOST_CITATIONS: Final = 1_000
REPORTED: Final = 20
"""Most unknown citations, and uncited sentences, that are reported."""

_CITED: Final = re.compile(r"\s*\[\s*(\d+(?:\s*[,;–-]\s*\d+)*)\s*\]")  # also [2–4], which cites both ends
_NUMBER: Final = re.compile(r"\d+")


@attrs.frozen(kw_only=True)
class Written:
    """The validated content of an answer; see `Summary`. ``tokens`` are those of the sentences."""

    sentences: tuple[Sentence, ...]
    unknown: tuple[int, ...]
    uncited: tuple[str, ...]
    beyond: int
    tokens: int


def written(data: Mapping[str, Any], sources: Mapping[int, Source], *, budget: int, counter: TokenCounter) -> Written:
    """The sentences of an answer that cite ``sources``, given by number, as many as fit a budget of tokens.

    Raises `LLMAnswerError` with all faults, at most 20 of them.
    """
    sentences: list[Sentence] = []
    uncited: list[str] = []
    unknown: set[int] = set()
    beyond = tokens = 0
    for text, cites in _claims(data):
        unknown |= cites - sources.keys()
        known = tuple(sources[number] for number in sorted(cites & sources.keys()))
        cost = counter.count(text + " ")
        if not text:
            continue
        if not known:
            uncited.append(text)
        elif tokens + cost > budget:
            beyond += 1
        else:
            sentences.append(Sentence(text=text, sources=known))
            tokens += cost
    return Written(
        sentences=tuple(sentences),
        unknown=tuple(sorted(unknown)[:REPORTED]),
        uncited=tuple(uncited[:REPORTED]),
        beyond=beyond,
        tokens=tokens,
    )


def _claims(data: Mapping[str, Any]) -> list[tuple[str, set[int]]]:
    """Sentences, as safe text, with the cited numbers: of the list, and of the text, from which they are removed."""
    faults = [f"there is no field {name[:REPORTED]!r}" for name in sorted(set(data) - {"sentences"})]
    listed = data.get("sentences")
    if not isinstance(listed, list) or len(listed) > MOST_SENTENCES:
        faults.append(f"sentences must be a list of at most {MOST_SENTENCES}")
        listed = []
    for place, each in enumerate(listed):
        faults += [f"sentences[{place}]: {fault}" for fault in _faults(each)]
    if faults:
        raise LLMAnswerError("the summary", faults=faults)
    return [(_plain(each["text"]), {*each["cites"], *_inline(each["text"])}) for each in listed]


def _faults(sentence: object) -> list[str]:
    if not isinstance(sentence, Mapping) or set(sentence) != {"text", "cites"}:
        return ["it must have text and cites, and nothing else"]
    text, cites = sentence["text"], sentence["cites"]
    found = [check.text("text", text, empty=True)]
    if isinstance(text, str) and len(text) > LONGEST_SENTENCE:
        found.append(f"text must have at most {LONGEST_SENTENCE} characters")
    whole = isinstance(cites, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in cites)
    if not whole or len(cites) > MOST_CITATIONS:
        found.append(f"cites must be a list of at most {MOST_CITATIONS} whole numbers")
    return [fault for fault in found if fault]


def _plain(text: str) -> str:
    return safe_text(_CITED.sub("", text))


def _inline(text: str) -> set[int]:
    return {int(number) for cited in _CITED.findall(text) for number in _NUMBER.findall(cited)}
