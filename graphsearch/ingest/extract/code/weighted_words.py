"""What stands in a definition beside its name and its description, as words with weights: pure.

Questions about code rarely use its names: they describe what it does, as comments and the rest of a docstring do. A
field of a definition counts for each of its words

    weight · n / (¼ + ¾ · length / usual length)

where n is how often the word stands there: a long field says more, and each of its words less (BM25F of Robertson,
Zaragoza and Taylor, Simple BM25 Extension to Multiple Weighted Fields, 2004). The usual lengths are constants, so that
one file's words never depend on another's. A word of a name or a description counts 1.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.code.outline import Outline
from graphsearch.ingest.extract.code.scopes import Defining, Frame, arguments
from graphsearch.text.bm25 import normal_length
from graphsearch.text.terms import identifier_words, terms

MOST: Final = 256
"""Words of one definition that are kept, the heaviest: a table of a thousand literals is not about each of them."""
LONGEST: Final = 200
"""Characters of a literal that is read: what is longer is data or a text of its own."""
_LEAST: Final = 1 / 64
"""A word that counts less is left out."""


@attrs.frozen
class _Field:
    """How much the words of a field count, and how many words such a field usually has (in Python's own library)."""

    weight: float
    usual: float


# By how directly each tells what the definition is for; leaving any out loses answers on each of two question sets.
_DOCSTRING: Final = _Field(0.7, 20.0)
_COMMENTS: Final = _Field(0.5, 20.0)
_HEAD: Final = _Field(0.5, 3.0)
_LITERALS: Final = _Field(0.3, 8.0)
_NAMES: Final = _Field(0.3, 10.0)


def words(outline: Outline) -> dict[str, dict[str, float]]:
    """By the qualified name of each definition; what stands in a definition inside of another is that one's alone."""
    comments = _comments(outline.source, outline.frames)
    found: dict[str, dict[str, float]] = {}
    for frame in outline.frames:
        if frame.name not in found:  # a name defined again is the first definition of that name
            found[frame.name] = _heaviest(_fields(frame, comments.get(frame, ())))
    return found


def _fields(frame: Frame, comments: Iterable[str]) -> Iterator[tuple[_Field, str]]:
    whole = ast.get_docstring(frame.node, clean=False)
    yield _DOCSTRING, (ast.get_docstring(frame.node) or "").strip().partition("\n\n")[2]
    yield _COMMENTS, "\n".join(comments)
    yield _HEAD, " ".join(_head(frame.node))
    yield _LITERALS, "\n".join(literal for literal in _literals(frame) if literal != whole)
    yield _NAMES, " ".join(_names(frame))


def _heaviest(fields: Iterable[tuple[_Field, str]]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for field, text in fields:
        counts = Counter(terms(identifier_words(text)))
        share = field.weight / normal_length(counts.total(), field.usual)
        for word, number in counts.items():
            weights[word] = weights.get(word, 0.0) + share * number
    kept = sorted(weights.items(), key=lambda each: (-each[1], each[0]))[:MOST]
    return {word: round(weight, 4) for word, weight in kept if weight >= _LEAST}


def _head(node: ast.Module | Defining) -> Iterator[str]:
    """What stands in the head of a definition beside its name: arguments, the bases of a class, "async"."""
    yield from (each.arg for each in arguments(node) if each.arg not in {"self", "cls"})
    if isinstance(node, ast.AsyncFunctionDef):
        yield "async"
    if isinstance(node, ast.ClassDef):
        yield from map(ast.unparse, node.bases)


def _literals(frame: Frame) -> Iterator[str]:
    for node in frame.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < LONGEST:
            yield node.value


def _names(frame: Frame) -> Iterator[str]:
    for node in frame.nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


# -- comments -----------------------------------------------------------------------------------------------------


def _comments(source: str, frames: Sequence[Frame]) -> Mapping[Frame, list[str]]:
    """The comments of each scope: those inside it and of no scope in it, and those right above its first line."""
    found = _read(source)
    if not found:
        return {}
    alone = {line for line, (_, whole) in found.items() if whole}
    spans = sorted(_spans(frames, alone), key=lambda span: (span[0], -span[1]))
    comments: dict[Frame, list[str]] = {}
    open_: list[tuple[int, int, Frame]] = []
    waiting = iter(spans)
    following = next(waiting, None)
    for line, (text, _) in found.items():
        while following is not None and following[0] <= line:
            open_.append(following)
            following = next(waiting, None)
        while open_ and open_[-1][1] < line:
            open_.pop()
        owner = open_[-1][2] if open_ else frames[0]
        comments.setdefault(owner, []).append(text)
    return comments


def _spans(frames: Iterable[Frame], alone: set[int]) -> Iterator[tuple[int, int, Frame]]:
    """The first and the last line of each scope but the module, with the lines of comments right above it."""
    for frame in frames:
        if not isinstance(frame.node, ast.Module):
            first = min([frame.node.lineno, *(each.lineno for each in frame.node.decorator_list)])
            while first - 1 in alone:
                first -= 1
            yield first, frame.node.end_lineno or frame.node.lineno, frame


def _read(source: str) -> dict[int, tuple[str, bool]]:
    """The comments of a source by line, in order, each with whether it stands alone in its line."""
    found: dict[int, tuple[str, bool]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = (token.string.lstrip("#!: "), not token.line[: token.start[1]].strip())
    except (tokenize.TokenError, SyntaxError):
        # What the parser reads and the tokenizer does not, such as a form feed in an indentation, ends the comments.
        return found
    return found
