"""Weighted words of a definition in addition to its name and description.

Questions about code rarely use its names: they describe its behaviour, as comments and the rest of a docstring do. A
field of a definition adds to the weight of each of its words

    weight · n / (¼ + ¾ · length / usual length)

where n is the number of occurrences: each word of a long field counts less (BM25F of Robertson, Zaragoza and Taylor,
Simple BM25 Extension to Multiple Weighted Fields, 2004). The usual lengths are constants, so that the words of one
file never depend on another. A word of a name or a description has weight 1.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.code.definitions import Outline
from graphsearch.ingest.extract.code.scopes import Frame, arguments
from graphsearch.text.analyser import identifier_words, terms
from graphsearch.text.bm25 import normal_length

MOST: Final = 256
"""Maximum words kept for one definition, the heaviest ones; a table may have thousands of literals."""
LONGEST: Final = 200
"""Maximum characters of a literal that is read: longer ones are data."""
_LEAST: Final = 1 / 64
"""Least weight of a word that is kept."""


NAMED: Final = (ast.Name, ast.Attribute)


@attrs.frozen
class _Field:
    """The weight of a field, and its usual number of words (measured in Python's standard library)."""

    weight: float
    usual: float


# By how directly each states the purpose of the definition; dropping any of them loses answers on two question sets.
_DOCSTRING: Final = _Field(0.7, 20.0)
_COMMENTS: Final = _Field(0.5, 20.0)
_HEAD: Final = _Field(0.5, 3.0)
_LITERALS: Final = _Field(0.3, 8.0)
_NAMES: Final = _Field(0.3, 10.0)


def words(outline: Outline) -> dict[str, dict[str, float]]:
    """Weighted words by the qualified name of each definition; words of nested definitions belong only to these."""
    comments = _comments(outline.source, outline.frames)
    found: dict[str, dict[str, float]] = {}
    for frame in outline.frames:
        if frame.name not in found:  # a name defined again is the first definition of that name
            found[frame.name] = _heaviest(_fields(frame, comments.get(frame, ())))
    return found


def _fields(frame: Frame, comments: Iterable[str]) -> Iterator[tuple[_Field, str]]:
    node, docstring = frame.node, (ast.get_docstring(frame.node) or "").strip()
    head = [each.arg for each in arguments(node) if each.arg not in {"self", "cls"}]
    head += ["async"] * isinstance(node, ast.AsyncFunctionDef)
    head += map(ast.unparse, node.bases) if isinstance(node, ast.ClassDef) else ()
    constants = (each.value for each in frame.nodes if isinstance(each, ast.Constant))
    literals = (each for each in constants if isinstance(each, str) and len(each) < LONGEST)
    whole = ast.get_docstring(node, clean=False)
    yield _DOCSTRING, docstring.partition("\n\n")[2]
    yield _COMMENTS, "\n".join(comments)
    yield _HEAD, " ".join(head)
    yield _LITERALS, "\n".join(literal for literal in literals if literal != whole)
    yield (
        _NAMES,
        " ".join(getattr(each, "id", getattr(each, "attr", "")) for each in frame.nodes if isinstance(each, NAMED)),
    )


def _heaviest(fields: Iterable[tuple[_Field, str]]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for field, text in fields:
        counts = Counter(terms(identifier_words(text)))
        share = field.weight / normal_length(counts.total(), field.usual)
        for word, number in counts.items():
            weights[word] = weights.get(word, 0.0) + share * number
    kept = sorted(weights.items(), key=lambda each: (-each[1], each[0]))[:MOST]
    return {word: round(weight, 4) for word, weight in kept if weight >= _LEAST}


# -- comments -----------------------------------------------------------------------------------------------------


def _comments(source: str, frames: Sequence[Frame]) -> Mapping[Frame, list[str]]:
    """The comments of each scope: those within it, but in no nested scope, and those directly above it."""
    found = _read(source)
    owners = dict.fromkeys(found, frames[0])
    for frame in frames[1:]:  # inner scopes come after the outer ones
        if not isinstance(frame.node, ast.Module):
            first = min([frame.node.lineno, *(each.lineno for each in frame.node.decorator_list)])
            while found.get(first - 1, ("", False))[1]:
                first -= 1
            within = range(first, (frame.node.end_lineno or first) + 1)
            owners.update((line, frame) for line in within if line in found)
    comments: dict[Frame, list[str]] = {}
    for line, (text, _) in found.items():
        comments.setdefault(owners[line], []).append(text)
    return comments


def _read(source: str) -> dict[int, tuple[str, bool]]:
    """The comments of a source by line, in order, each with whether it is alone on its line."""
    found: dict[int, tuple[str, bool]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = (token.string.lstrip("#!: "), not token.line[: token.start[1]].strip())
    except (tokenize.TokenError, SyntaxError):
        # Source that only the parser accepts, such as a form feed in an indentation, ends the comments.
        return found
    return found
