"""Names of persons: titles, degrees, initials, handles, particles and the order of given name and surname."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from graphsearch.names.forms import Form, flat, plain_form, plain_word, tidy
from graphsearch.names.vocabulary import is_given_name, words
from graphsearch.text.trigrams import spoken_words

_ASIDE: Final = re.compile(r"""(?<!\s)\s*+[(\[<"“][^)\]>"”]*+(?:(?P<closed>[)\]>"”])\s*+|\Z)""")
_EMAIL: Final = re.compile(r"([\w.+-]+)@[\w-]+(?:\.[\w-]+)+")
_HANDLE_BREAK: Final = re.compile(r"[._+-]+")
_BETWEEN_INITIALS: Final = re.compile(r"(?<=\b[^\W\d_]\.)(?=[^\W\d])")
_NUMBERED: Final = re.compile(r"(?<=[^\W\d_]{3})[\W_]?\d+$")
_MOST_INITIALS: Final = 3
_LEAST_ABBREVIATION: Final = 3
"""Least letters of an abbreviation that is a title: shorter ones are initials ("Yu. Gagarin", "Ch. Dupont")."""
_GENERATIONS: Final = {"junior": "jr", "senior": "sr"}
_WRITTEN: Final = {"jr": "Jr.", "sr": "Sr."}


def person_form(name: str) -> Form:
    """Parse a name as a person's: turn "Sharma, Priya", remove titles, degrees and asides such as "(she/her)".

    Its words are the given names first, without particles ("van", "de"); its mark is the generation, if it is given.
    """
    tokens, generation = _bare(_in_order(_without_handle(tidy(name))))
    named = " ".join(tokens)
    every = spoken_words(" ".join((*_initials_apart(tokens), *tokens[1:]))) or (named,)
    own = _without_particles(every, tokens)
    return plain_form(
        name,
        kind="person",
        shown=f"{named} {_WRITTEN.get(generation, generation.upper())}".strip(),
        keys=frozenset(f"{flat(''.join(each))} {generation}".strip() for each in (every, own)),
        words=own,
        single=len(own) == 1 or len(tokens) == 1,
        mark=generation,
    )


def _without_particles(every: tuple[str, ...], tokens: Sequence[str]) -> tuple[str, ...]:
    """Drop particles; a first word is one only if in lower case or followed by another: Al Gore's name is Al."""
    particles = words("particles")
    count = next((at for at, word in enumerate(every[:-1]) if word not in particles), len(every) - 1)
    small = tokens[0].islower() and not is_given_name(every[0])
    first, *others = every[count if count > 1 or small else 0 :]
    return (first, *(word for word in others if word not in particles))


def _initials_apart(tokens: Sequence[str]) -> tuple[str, ...]:
    """The letters of initials such as "JP" in "JP Dubois": a first word in capitals before words that are not."""
    first = tokens[0]
    capitals = first.isalpha() and first.isupper() and 1 < len(first) <= _MOST_INITIALS
    return tuple(first) if capitals and any(word.upper() != word for word in tokens[1:]) else (first,)


def _without_handle(text: str) -> str:
    """The name in "@priya_sharma" or "priya.sharma@example.com", without the number of "@psharma42"."""
    email = _EMAIL.fullmatch(text)
    if email or text.startswith("@"):
        return _HANDLE_BREAK.sub(" ", _NUMBERED.sub("", email[1] if email else text)).strip("@ ") or text
    return text


def _in_order(text: str) -> str:
    """Remove asides, move a surname before a comma to the end, drop what follows a full name, such as an office."""
    text = _ASIDE.sub(lambda match: " " if match["closed"] else match[0], text).strip() or text
    first, *rest = (part.strip() for part in text.split(","))
    after = words("degrees") | words("generations")
    kinds = [({plain_word(token) for token in part.split()}, part) for part in rest if part]
    names = [part for kind, part in kinds if not kind <= after]
    generation = [part for kind, part in kinds if kind <= words("generations")]
    surname = len([word for word in spoken_words(first.replace("-", "")) if word not in words("particles")]) == 1
    return " ".join(part for part in (*(names[:1] if surname else []), first, *generation) if part) or text


def _bare(text: str) -> tuple[list[str], str]:
    """The words of a name as written, without titles and degrees, and the generation."""
    tokens = [_without_honorific(token) for token in _BETWEEN_INITIALS.sub(" ", text).split()] or [text]
    titled = False
    while len(tokens) > 1 and _is_title(tokens, titled=titled):
        titled, tokens = True, tokens[1:]
    generation = ""
    while len(tokens) > 1 and (last := plain_word(tokens[-1])) in words("degrees") | words("generations"):
        generation = last if last in words("generations") else generation
        tokens = tokens[:-1]
    return tokens, _GENERATIONS.get(generation, generation)


def _without_honorific(token: str) -> str:
    bare, _, honorific = token.rpartition("-")
    return bare if bare and honorific.casefold() in words("honorifics") else token


def _is_title(tokens: Sequence[str], *, titled: bool) -> bool:
    """Whether the first word is a title, known or by its form; ``titled``: after another title.

    By its form an abbreviation of three letters or more is one ("Avv.", "JUDr."), and so is a word in lower case before
    names that are not ("nurse Agnes Moor"), where a given name and a surname follow; a word before a title is a part of
    that: "Staff Sergeant", "Univ.-Prof. Dr.".
    """
    first, second, following = plain_word(tokens[0]), plain_word(tokens[1]), len(tokens) - 1
    if first in words("titles") or (first == "the" and second in words("titles")):
        return True
    if titled and tokens[0].islower() and tokens[0].endswith("."):
        return True
    if not first or is_given_name(first) or first in words("shortened_names") or first in words("particles"):
        return False
    if tokens[0].endswith(".") and (titled or (len(first) >= _LEAST_ABBREVIATION and following > 1)):
        return len(first) > 1
    if following == 1:
        return False
    small = tokens[0].islower() and len(first) > 1 and all(each[0].isupper() for each in tokens[1:3])
    return small or first in words("noble_titles") or (following > 2 and second in words("titles"))  # noqa: PLR2004
