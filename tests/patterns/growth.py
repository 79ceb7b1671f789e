"""The growth of a regular expression's work with its input, counted by a backtracking matcher on pumps of its own.

The matcher follows the parsed tree as `re` does, and counts a step for each comparison. A pump is a prefix that reaches
a repetition, many copies of what its body or the way to it matches, and an end that matches nothing.
"""

from __future__ import annotations

import gc
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Final

# The parser and its names are private to the standard library; nothing public tells how `re` reads a pattern.
op: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

SIZES: Final = ((64, 128), (192, 384), (512, 1_024))
"""Characters of a pump: the larger where the work grew too fast, since bounded repetitions reach no further."""
ALLOWED: Final = 2.7
"""Times the work at twice the size; a quadratic part approaches 4."""
LONG: Final = 12
"""What is longer is copied as often as if it had so many characters: beyond what bounded repetitions reach."""
MANY: Final = 6
"""A repetition that may match so often is pumped."""
NOTHING: Final = "\x00"
OFTEN: Final = 1
_COMMON: Final = "aA0 .,-\n漢"
_CAP: Final = 300_000

Then = Callable[[int], bool]
Match = Callable[[int, Then], bool]


class TooManyStepsError(Exception):
    """The work is beyond any limit."""


class Matcher:
    """A pattern that counts its steps."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.tree = parser.parse(pattern, flags)
        self.flags = self.tree.state.flags
        self.groups: dict[int, tuple[int, int]] = {}
        self.text = ""
        self.steps = 0
        self._starts = _first(list(self.tree), self.flags)
        self._match = self._sequence(list(self.tree), self.flags)

    def work(self, text: str, *, once: bool = False) -> int:
        """The steps of matching at the start alone, or of finding all matches."""
        self.text, self.steps, at = text, 0, 0
        while at <= len(text):
            self.groups.clear()
            self.steps += 1
            end = self._end(at)
            if once:
                break
            at = max(end, at + 1)
        return self.steps

    def _end(self, at: int) -> int:
        found = -1

        def done(end: int) -> bool:
            nonlocal found
            found = end
            return True

        if self._starts is None or (at < len(self.text) and self._starts(self.text[at])):
            self._match(at, done)
        return found

    def _sequence(self, items: Sequence[Any], flags: int) -> Match:
        parts = [self._item(item, flags) for item in items]
        if len(parts) == 1:
            return parts[0]

        def match(at: int, then: Then) -> bool:
            return step(0, at, then)

        def step(number: int, at: int, then: Then) -> bool:
            if number == len(parts):
                return then(at)
            return parts[number](at, lambda end: step(number + 1, end, then))

        return match

    def _item(self, item: Any, flags: int) -> Match:
        kind, value = item
        one = _single(item, flags)
        if one is not None:
            return self._character(one)
        if kind is op.SUBPATTERN:
            group, add, drop, body = value
            return self._group(group, self._sequence(list(body), (flags | add) & ~drop))
        if kind is op.BRANCH:
            return self._branch([(_first(list(each), flags), self._sequence(list(each), flags)) for each in value[1]])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, body = value
            return self._repeat(kind, least, most, body, flags)
        if kind is op.ATOMIC_GROUP:
            return self._atomic(self._sequence(list(value), flags))
        if kind in (op.ASSERT, op.ASSERT_NOT):
            return self._assertion(value[0], value[1], flags, wanted=kind is op.ASSERT)
        if kind is op.AT:
            return self._position(value, flags)
        if kind is op.GROUPREF:
            return self._reference(value)
        if kind is op.GROUPREF_EXISTS:
            group, yes, no = value
            return self._conditional(group, self._sequence(list(yes), flags), self._sequence(list(no or ()), flags))
        raise NotImplementedError(kind)

    def _count(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > _CAP:
            raise TooManyStepsError

    def _character(self, test: Callable[[str], bool]) -> Match:
        def match(at: int, then: Then) -> bool:
            self._count()
            return at < len(self.text) and test(self.text[at]) and then(at + 1)

        return match

    def _group(self, group: int | None, body: Match) -> Match:
        if group is None:
            return body

        def match(at: int, then: Then) -> bool:
            def close(end: int) -> bool:
                before = self.groups.get(group)
                self.groups[group] = (at, end)
                if then(end):
                    return True
                if before is None:
                    del self.groups[group]
                else:
                    self.groups[group] = before
                return False

            return body(at, close)

        return match

    def _branch(self, ways: Sequence[tuple[Callable[[str], bool] | None, Match]]) -> Match:
        def match(at: int, then: Then) -> bool:
            self._count()
            for starts, way in ways:
                if (starts is None or (at < len(self.text) and starts(self.text[at]))) and way(at, then):
                    return True
            return False

        return match

    def _repeat(self, kind: Any, least: int, most: int, body: Any, flags: int) -> Match:
        items = list(body)
        one = _single(items[0], flags) if len(items) == 1 else None
        if one is not None:
            return self._run(kind, least, most, one)
        inner, starts = self._sequence(items, flags), _first(items, flags)
        if kind is op.POSSESSIVE_REPEAT:
            return self._atomic(self._loop(inner, starts, least, most, lazy=False))
        return self._loop(inner, starts, least, most, lazy=kind is op.MIN_REPEAT)

    def _run(self, kind: Any, least: int, most: int, test: Callable[[str], bool]) -> Match:  # noqa: C901
        """A repetition of one character."""

        def match(at: int, then: Then) -> bool:
            text, limit = self.text, min(len(self.text), at + int(most))
            if kind is op.MIN_REPEAT:
                end = at
                while True:
                    self._count()
                    if end - at >= least and then(end):
                        return True
                    if end >= limit or not test(text[end]):
                        return False
                    end += 1
            end = at
            while end < limit and test(text[end]):
                end += 1
            self._count(end - at + 1)
            if end - at < least:
                return False
            if kind is op.POSSESSIVE_REPEAT:
                return then(end)
            for each in range(end, at + least - 1, -1):
                self._count()
                if then(each):
                    return True
            return False

        return match

    def _loop(self, body: Match, starts: Callable[[str], bool] | None, least: int, most: int, *, lazy: bool) -> Match:
        def match(at: int, then: Then) -> bool:
            return again(0, at, -1, then)

        def again(times: int, at: int, before: int, then: Then) -> bool:
            self._count()
            more = times < int(most) and (at != before or times < least)
            if starts is not None and (at >= len(self.text) or not starts(self.text[at])):
                more = False
            if times < least:
                return more and body(at, lambda end: again(times + 1, end, at, then))
            if lazy:
                return then(at) or (more and body(at, lambda end: again(times + 1, end, at, then)))
            return (more and body(at, lambda end: again(times + 1, end, at, then))) or then(at)

        return match

    def _atomic(self, body: Match) -> Match:
        def match(at: int, then: Then) -> bool:
            ends: list[int] = []

            def end_there(end: int) -> bool:
                ends.append(end)
                return True

            return body(at, end_there) and then(ends[0])

        return match

    def _assertion(self, direction: int, body: Any, flags: int, *, wanted: bool) -> Match:
        inner = self._sequence(list(body), flags)
        width = body.getwidth()[0] if direction < 0 else 0

        def match(at: int, then: Then) -> bool:
            self._count()
            holds = at >= width and inner(at - width, lambda end: True)
            return holds == wanted and then(at)

        return match

    def _position(self, where: Any, flags: int) -> Match:
        def holds(at: int) -> bool:
            text, last = self.text, len(self.text)
            if where is op.AT_BEGINNING_STRING or (where is op.AT_BEGINNING and not flags & re.MULTILINE):
                return at == 0
            if where is op.AT_BEGINNING:
                return at == 0 or text[at - 1] == "\n"
            if where is op.AT_END_STRING:
                return at == last
            if where is op.AT_END:
                return at == last or (text[at] == "\n" and (bool(flags & re.MULTILINE) or at == last - 1))
            edge = (at > 0 and _is_word(text[at - 1])) != (at < last and _is_word(text[at]))
            return edge == (where is op.AT_BOUNDARY)

        def match(at: int, then: Then) -> bool:
            self._count()
            return holds(at) and then(at)

        return match

    def _reference(self, group: int) -> Match:
        def match(at: int, then: Then) -> bool:
            self._count()
            if group not in self.groups:
                return False
            first, last = self.groups[group]
            self._count(last - first)
            return self.text.startswith(self.text[first:last], at) and then(at + last - first)

        return match

    def _conditional(self, group: int, yes: Match, no: Match) -> Match:
        def match(at: int, then: Then) -> bool:
            return (yes if group in self.groups else no)(at, then)

        return match


def growth_faults(
    pattern: str, flags: int = 0, *, once: bool = False, passed: Counter[str] | None = None
) -> Iterator[str]:
    """The pumps on which the work grows faster than the input; with ``once`` that of matching at the start alone.

    What is copied is not tried any more once it has ``passed`` in `OFTEN` patterns, which are made of the same parts.
    """
    passed = Counter[str]() if passed is None else passed
    with _deep():
        matcher = Matcher(pattern, flags)
        tried = sorted(pump for pump in pumps(matcher) if passed[pump[1]] < OFTEN)
        for prefix, copied in tried:
            if fault := _fault(matcher, prefix, copied, once=once):
                yield fault
        passed.update({copied for _, copied in tried})


def _fault(matcher: Matcher, prefix: str, copied: str, *, once: bool) -> str:
    few = many = 0
    for sizes in SIZES:
        few = many = _work(matcher, prefix, copied, sizes[0], once=once)
        if few > _CAP:
            break
        many = _work(matcher, prefix, copied, sizes[1], once=once)
        if many <= min(ALLOWED * few, _CAP):
            return ""
    return f"{prefix!r} + n × {copied!r} + {NOTHING!r}: {few} steps, {many} for twice the text"


def _work(matcher: Matcher, prefix: str, copied: str, size: int, *, once: bool) -> int:
    try:
        return matcher.work(prefix + copied * (size // min(len(copied), LONG)) + NOTHING, once=once)
    except TooManyStepsError:
        return _CAP + 1


def pumps(matcher: Matcher) -> set[tuple[str, str]]:
    """Prefixes, and what is copied after them."""
    letters = _alphabet(matcher)
    found = {("", letter) for letter in letters}
    _pumped(list(matcher.tree), matcher.flags, "", letters, found)
    return {(prefix, copied) for prefix, copied in found if copied}


def _pumped(  # noqa: C901
    items: Sequence[Any], flags: int, prefix: str, letters: str, found: set[tuple[str, str]]
) -> str:
    """Add the pumps of a sequence after a prefix; the prefix after it."""
    for kind, value in items:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, body = value
            if int(most) >= MANY:
                for sample in _samples(list(body), flags, letters):
                    found |= {(prefix, sample), ("", prefix + sample), ("", prefix)}
            _pumped(list(body), flags, prefix, letters, found)
            sample = next(iter(_samples(list(body), flags, letters)), "")
            prefix += sample * max(1, int(least))
        elif kind is op.SUBPATTERN:
            _, add, drop, body = value
            prefix = _pumped(list(body), (flags | add) & ~drop, prefix, letters, found)
        elif kind is op.ATOMIC_GROUP:
            prefix = _pumped(list(value), flags, prefix, letters, found)
        elif kind is op.BRANCH:
            ways = [_pumped(list(each), flags, prefix, letters, found) for each in value[1]]
            prefix = ways[0]
        elif kind in (op.ASSERT, op.ASSERT_NOT) and value[0] > 0:
            _pumped(list(value[1]), flags, prefix, letters, found)
        elif kind is op.GROUPREF_EXISTS:
            for each in value[1:]:
                _pumped(list(each or ()), flags, prefix, letters, found)
        else:
            prefix += next(iter(_samples([(kind, value)], flags, letters)), "")
    return prefix


def _samples(items: Sequence[Any], flags: int, letters: str, most: int = 4) -> list[str]:
    """Some texts that a sequence matches."""
    found = [""]
    for item in items:
        parts = _item_samples(item, flags, letters)[:most]
        found = [one + other for other in parts for one in found[: max(1, most // max(1, len(parts)))]][:most]
    return list(dict.fromkeys(found))


def _item_samples(item: Any, flags: int, letters: str) -> list[str]:
    kind, value = item
    one = _single(item, flags)
    if one is not None:
        return [letter for letter in letters if one(letter)] or [_any_of(item)]
    if kind is op.SUBPATTERN:
        return _samples(list(value[3]), (flags | value[1]) & ~value[2], letters)
    if kind is op.ATOMIC_GROUP:
        return _samples(list(value), flags, letters)
    if kind is op.BRANCH:
        each = [_samples(list(way), flags, letters, 2) for way in value[1]]
        return [samples[at] for at in range(2) for samples in each if at < len(samples)]
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        inner = _samples(list(value[2]), flags, letters)
        times = max(int(value[0]), 1)
        return [each * times for each in inner] + ([""] if value[0] == 0 else [])
    return [""]


def _any_of(item: Any) -> str:
    """A character of a set that none of the alphabet is in."""
    kind, value = item
    if kind is op.LITERAL:
        return chr(value)
    for part, what in value if kind is op.IN else ():
        if part is op.LITERAL:
            return chr(what)
        if part is op.RANGE:
            return chr(what[0])
    return "a"


def _alphabet(matcher: Matcher) -> str:
    """Characters that the pattern tells apart, and some that are common."""
    found: dict[str, None] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tuple) and len(node) == 2 and node[0] in (op.LITERAL, op.NOT_LITERAL):
            if not chr(node[1]).isalnum():
                found[chr(node[1])] = None
        elif isinstance(node, tuple) and len(node) == 2 and node[0] is op.RANGE:
            found[chr(node[1][0])] = None
        elif isinstance(node, list | tuple | parser.SubPattern):
            for each in node:
                visit(each)

    visit(matcher.tree)
    return "".join(dict.fromkeys([*_COMMON, *list(found)[:10]]))


@contextmanager
def _deep() -> Iterator[None]:
    """Allow deep recursion; garbage, which matches make, is not looked for among what is imported."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setrecursionlimit(limit)


@cache
def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _first(items: Sequence[Any], flags: int) -> Callable[[str], bool] | None:
    """The test of the first character, where there must be one."""
    for kind, value in items:
        one = _single((kind, value), flags)
        if one is not None:
            return one
        if kind is op.SUBPATTERN:
            return _first(list(value[3]), (flags | value[1]) & ~value[2])
        if kind in (op.MAX_REPEAT, op.POSSESSIVE_REPEAT, op.MIN_REPEAT) and value[0]:
            return _first(list(value[2]), flags)
        if kind is op.BRANCH:
            tests = [_first(list(each), flags) for each in value[1]]
            if any(each is None for each in tests):
                return None
            return _memo(lambda letter, tests=tests: any(test(letter) for test in tests if test))  # type: ignore[misc]
        if kind is not op.AT:
            return None
    return None


def _memo(test: Callable[[str], bool]) -> Callable[[str], bool]:
    known: dict[str, bool] = {}

    def tested(letter: str) -> bool:
        answer = known.get(letter)
        if answer is None:
            answer = known[letter] = test(letter)
        return answer

    return tested


def _single(item: Any, flags: int) -> Callable[[str], bool] | None:
    """The test of an item that matches one character: what `re` itself says of it."""
    kind, value = item
    if kind is op.ANY:
        return _memo(lambda letter: bool(flags & re.DOTALL) or letter != "\n")
    if kind in (op.LITERAL, op.NOT_LITERAL):
        letters = {chr(value)}
        if flags & re.IGNORECASE:
            letters |= {chr(value).lower(), chr(value).upper()}
        wanted = kind is op.LITERAL
        return _memo(lambda letter: (letter in letters) == wanted)
    if kind is not op.IN:
        return None
    parts = list(value)
    negated = bool(parts) and parts[0][0] is op.NEGATE
    tests = [_part(part, flags) for part in parts[negated:]]
    return _memo(lambda letter: any(test(letter) for test in tests) != negated)


def _part(part: Any, flags: int) -> Callable[[str], bool]:
    kind, value = part
    fold = bool(flags & re.IGNORECASE)

    def forms(letter: str) -> set[str]:
        return {letter, letter.lower(), letter.upper()} if fold else {letter}

    if kind is op.LITERAL:
        return lambda letter: chr(value) in forms(letter)
    if kind is op.RANGE:
        return lambda letter: any(len(each) == 1 and value[0] <= ord(each) <= value[1] for each in forms(letter))
    ascii_only = bool(flags & re.ASCII)
    kinds: dict[Any, Callable[[str], bool]] = {
        op.CATEGORY_DIGIT: str.isdecimal,
        op.CATEGORY_SPACE: str.isspace,
        op.CATEGORY_WORD: _is_word,
    }
    opposite = {
        op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
        op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
        op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
    }
    wanted = value not in opposite
    holds = kinds[opposite.get(value, value)]
    return lambda letter: (holds(letter) and (letter.isascii() or not ascii_only)) == wanted
