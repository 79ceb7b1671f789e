"""The kind of thing that a question asks for, in words: of "who", "where" and "which service"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from graphsearch.text.terms import STOP_WORDS

_PRONOUNS: Final[Mapping[str, str]] = {
    "who": "person human individual",
    "whom": "person human individual",
    "whose": "person human individual",
    "where": "place location site",
    "when": "date time",
}
_DETERMINERS: Final = frozenset({"which", "what"})


def asked_kind(words: Sequence[str], is_kind: Callable[[str], bool]) -> str:
    """The kind that the first question word asks for, in words: "which backup vault …" wants a "backup vault".

    ``words`` are the folded words of a question. The noun phrase ends after a word that ``is_kind``: "which inspector
    looks after …" wants an "inspector". Empty if there is none: "what runs there?".
    """
    for place, word in enumerate(words):
        if word in _PRONOUNS:
            return _PRONOUNS[word]
        if word in _DETERMINERS:
            noun = [each for each in words[place + 1 : place + 3] if each not in STOP_WORDS]
            first = words[place + 1 : place + 2]
            if first and first[0] not in STOP_WORDS:
                return first[0] if is_kind(first[0]) else " ".join(noun)
    return ""
