"""Patterns about what people do: whom they meet, and what they work on."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import LIKELY, PERSON, UNDERTAKING, row

_UP: Final = "(?:(?:up|again|briefly|finally|just|also|first) )*"
_SPOKE: Final = (
    "(?:spoke|talked|chatted|caught up|sat down|(?:had|grabbed) (?:an? |some )?(?:[a-z]+ )?(?:lunch|dinner"
    "|coffee|breakfast|drinks?|beers?|tea|call|meeting|chat))"
)

MEETING: Final = (
    row(
        "met",
        "met_with",
        f"{{source}} met {_UP}{{target}}(?!'s)",
        PERSON,
        PERSON,
        LIKELY,
        Phase.DONE,
        called="met meet meeting",
    ),
    row(
        "met_with",
        "met_with",
        f"{{source}} (?:met {_UP}with|{_SPOKE} {_UP}(?:to|with)) {{target}}(?!'s)",
        PERSON,
        ("person", "organisation", "team", "facility", ""),
        LIKELY,
        Phase.DONE,
        called="met meet spoke talked chatted lunch dinner coffee breakfast drink tea meeting call caught sat chat",
    ),
)

WORKING_ON: Final = (
    row(
        "works_on",
        "works_on",
        "{source} (?:works|working|(?P<plain>work)) (?:[a-z]+ly |mostly |only |together |again )?on {target}",
        PERSON,
        UNDERTAKING,
        called="work works working",
    ),
    row(
        "worked_on",
        "works_on",
        "{source} worked (?:[a-z]+ly |mostly |together |again )?on {target}",
        PERSON,
        UNDERTAKING,
        LIKELY,
        Phase.ENDED,
        called="worked",
    ),
)
