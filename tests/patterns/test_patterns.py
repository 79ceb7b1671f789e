"""No regular expression of the package takes more than linear time: growth is counted on pumps made from each."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from functools import cache
from typing import Final

import pytest

from tests.patterns.collecting import ROOT, call_sites, ways
from tests.patterns.growth import growth_faults

PARTS: Final = 4
LAZY: Final = {
    "graphsearch/evaluation/evaluator.py": r"(?<!\w)Ada\ Lovelace(?!\w)",
    "graphsearch/ingest/extract/llm/grounding.py": r"Ada\s+Lovelace\s+Ada",
    "graphsearch/ingest/screening.py": r"a\-secret",
    "graphsearch/ranking/recaller.py": r"(?:workin|work|wor)\w*",
    "stores/in_postgres/index/bulk.py": r"\bmemories_pkey(_[0-9]+)?\b",
}
"""A pattern of each call whose pattern is known only when it runs, by file."""


@cache
def patterns() -> dict[tuple[str, int], list[tuple[str, int]]]:
    """Patterns and flags by the calls that compile or use them, by file and line; of a loop, all."""
    command = [sys.executable, "-m", "tests.patterns.collecting"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[tuple[str, int], list[tuple[str, int]]] = {}
    imported = json.loads(done.stdout)
    for (path, line), call in call_sites().items():
        inside = [each for each in imported if each[0] == path and line <= each[1] <= (call.end_lineno or line)]
        if inside:
            found[path, line] = [(each[2], each[3]) for each in inside]
        elif isinstance(first := call.args[0], ast.Constant):
            found[path, line] = [(str(first.value), 0)]
        elif isinstance(first, ast.Name) and first.id.startswith("_"):
            module = path.removesuffix(".py").replace("/", ".")
            found[path, line] = [(getattr(importlib.import_module(module), first.id), 0)]
        elif path in LAZY:
            found[path, line] = [(LAZY[path], 0)]
    return found


def test_every_call_that_takes_a_pattern_is_known() -> None:
    assert {each for each in call_sites() if each not in patterns()} == set()
    assert len(patterns()) > 150


@pytest.mark.parametrize("part", range(PARTS))
def test_the_work_of_each_pattern_grows_with_its_input(part: int) -> None:
    used = ways()
    faults: list[str] = []
    seen: set[tuple[str, bool]] = set()
    for place, pattern, flags in sorted((place, *each) for place, found in patterns().items() for each in found):
        how = used.get(place) or {"anywhere"}
        # what matches as a whole fails at the end, however much it matched
        checks = {(pattern, "anywhere" not in how)} | ({(f"(?:{pattern})\\Z", True)} if "whole" in how else set())
        for each in checks - seen if hash_of(pattern) % PARTS == part else ():
            seen.add(each)
            faults += [f"{place}: {fault}" for fault in growth_faults(each[0], flags, once=each[1])]
    assert not faults


def hash_of(pattern: str) -> int:
    """A number that is the same in each process."""
    return sum(pattern.encode()) + len(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"[ ]{0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\Z",
        r"\s+$",
        r"\s*\[",
        r"(a+)+b",
        r"(?:a|a)*b",
        r"(?:ab|a|b)+c",
        r".*x.*y",
        r"x.*y",
        r"[.!?]+\s*x",
        r"<[^>]*>",
        r"(?:\w+\s?)*!",
        r"\bA[\w-]*\w x",
        r"(?=.*y)x",
        r"\w+(?:-\w+)*@",
        r"(?:new |old )*(?:boss|friend) of",
        r"\A```\s*\n(.*)\n\s*```\Z",
    ],
)
def test_patterns_that_backtrack_are_found(pattern: str) -> None:
    assert any(growth_faults(pattern, re.DOTALL))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<!\s)\s++x",
        r"(?<![.!?])[.!?]++\s*+x",
        r"\w+",
        r"\b\w+\b",
        r"\bthe (?:new |old ){0,3}boss",
        r"(?<![\w-])[\w-]++(?: [\w-]++){1,3}",
        r"[a-z][A-Z]",
        r"x[^x]*",
        r"(?:ab|cd)+",
        r"^ *x",
        r"(?P<a>a)?(?(a)b|c)",
        r"a{1,20}b",
    ],
)
def test_patterns_that_do_not_are_not(pattern: str) -> None:
    assert not [*growth_faults(pattern)]


def test_a_match_at_the_start_is_tried_once() -> None:
    assert any(growth_faults(r"\w+@"))
    assert not [*growth_faults(r"\w+@", once=True)]
