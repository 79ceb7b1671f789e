"""The share of a question's terms that the texts of an entity contain, by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from graphsearch.query.analysis import Analysis
from graphsearch.text.terms import terms

NAME: Final = 3.0
PROPER_NOUN: Final = 2.0
SUMMARY: Final = 1.5
CONNECTED: Final = 1.0
ATTRIBUTES: Final = 1.0
LABELS: Final = 0.5
TOTAL: Final = NAME + PROPER_NOUN + SUMMARY + CONNECTED + ATTRIBUTES + LABELS
SHORT: Final = 2
"""Terms with this few letters are no evidence."""


@attrs.frozen(kw_only=True)
class Fields:
    """The texts of an entity: its name (and aliases), its description, and the names of its connections."""

    name: str
    summary: str = ""
    connected: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def query_match(fields: Fields, question: Analysis) -> float:
    """The share of the question's terms that each field contains, weighted and divided by 9; in [0, 1].

    Terms have more than two letters. Proper nouns count once more if any field contains them whole.
    """
    wanted = {term for term in question.terms if len(term) > SHORT}
    by_field = (
        (NAME, _terms([fields.name])),
        (SUMMARY, _terms([fields.summary])),
        (CONNECTED, _terms(fields.connected)),
        (ATTRIBUTES, _terms(fields.attributes)),
        (LABELS, _terms(fields.labels)),
    )
    matched = sum(weight * _share(wanted, found) for weight, found in by_field)
    everything = frozenset[str]().union(*(found for _, found in by_field))
    nouns = [frozenset(terms(noun)) for noun in question.proper_nouns]
    known = [noun for noun in nouns if noun]
    whole = sum(noun <= everything for noun in known) / len(known) if known else 0.0
    return (matched + PROPER_NOUN * whole) / TOTAL


def _terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in terms(text))


def _share(wanted: set[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0
