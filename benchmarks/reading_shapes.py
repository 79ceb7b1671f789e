"""Texts whose reading could take more than linear time: many names, marks and words of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import Final

_PIECES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "handles": "@name{n} ",
        "names": "{one} ",
        "names_and_words": "{one} and the ",
        "names_and": "{one} and ",
        "names_in_a_list": "{one}, ",
        "lists": "{one}, {two} and {three} work at {four} Labs. ",
        "sentences": "{one} knows {two} since 2019. ",
        "one_sentence_again": "Ada knows Bo. ",
        "paths": "src/a{n}/b{n}.py ",
        "one_path": "a{n}/",
        "urls": "https://ex{n}.org/p{n}?q={n} ",
        "emails": "a{n}@b{n}.org ",
        "tags": "#tag{n} ",
        "calls": "f{n}() ",
        "snake_case": "f_{n} ",
        "dotted": "a{n}.",
        "colons": "a{n}:",
        "versions": "v{n}.{n}.{n} ",
        "months": "in March from May until ",
        "dates": "from 2024-05-01 until ",
        "days": "yesterday ",
        "parentheses": "{one} ({four}) ",
        "opening_parentheses": "(",
        "quotes": '"a ',
        "apostrophes": "'a ",
        "code_quotes": "`a ",
        "links": "[{one}](http://x{n}) ",
        "opening_links": "[a](",
        "nested_marks": "**[_",
        "markup": "<b>",
        "json": '{{"a":',
        "rows": "| {one} | b{n} |\n",
        "headings": "# {one} heading\n\n",
        "lines": "{one}\n",
        "speakers": "{one}: hello there\n",
        "and": "and ",
        "the_same_name_and": "Ada and ",
        "subjects": "{one} who ",
        "possessives": "{one}'s ",
        "of": "{one} of ",
        "bosses": "the boss of {one} ",
        "pronouns": "{one} knows Bo. She likes him. ",
        "first_person": "I like {one}. ",
        "corrections": "Ada works at {one}. No, actually at {two}. ",
        "called": "{one} {two} is called {four}. ",
        "questions": "Who is {one}? ",
        "full_names": "{one} Smith met {one}. ",
        "one_given_name": "Ada {one} sleeps. ",
        "institutes": "The {one} Institute of Technology sleeps. ",
        "numbered": "Confederation{n} sleeps. ",
        "titles": "Mr. {one} ",
        "initials": "J. R. ",
        "long_word": "a",
        "long_name": "Ab",
        "hyphens": "A-",
        "dots": ".",
        "digits": "1,",
        "spaces": " ",
        "blank_lines": "\n",
        "underscores": "_",
        "accents": "e\u0301",
        "ideographs": "漢",
    }
)
SHAPES: Final = tuple(_PIECES)
"""The names of all shapes."""


def text_of(shape: str, size: int) -> str:
    """A text of a shape with at least ``size`` characters, and at most one piece more."""
    piece, length, parts = _PIECES[shape], 0, list[str]()
    for n in count():
        if length >= size:
            break
        parts.append(piece.format(n=n, one=_name(3 * n), two=_name(3 * n + 1), three=_name(3 * n + 2), four=_name(n)))
        length += len(parts[-1])
    return "".join(parts)


def _name(number: int) -> str:
    """A capitalised name, another one for each number."""
    letters = ""
    number += 26
    while number:
        letters = chr(ord("a") + number % 26) + letters
        number //= 26
    return f"Q{letters}o"
