"""Patterns of sponsorship: who pays for what."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.pattern_rows import BACKER, LIKELY, MADE_THING, MONEY, SOMEONE, SPONSORED, row
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import nominal, verbal

PAYING: Final = (
    *verbal(
        "sponsors",
        "sponsors",
        "sponsor, co-sponsor, fund, finance, bankroll, underwrite underwrote underwritten, subsidise, subsidize",
        SOMEONE,
        SPONSORED,
        past=LIKELY,
    ),
    *verbal(
        "pays_for",
        "sponsors",
        "pay paid + for, back, put put put putting + (?:up|in) (?:all )?the money (?:for|behind), foot + the bill for, "
        "cover + the costs? of",
        SOMEONE,
        MADE_THING,
        confidence=LIKELY,
    ),
    *nominal("sponsor", "sponsors", BACKER, SOMEONE, MADE_THING, holder="source"),
    row(
        "money_from",
        "sponsors",
        f"(?:{MONEY}) (?:for|behind) {{target}} (?:comes|came|coming|is) from {{source}}",
        SOMEONE,
        MADE_THING,
    ),
    row(
        "gets_money_from",
        "sponsors",
        f"{{target}} (?:gets|got|has|takes) (?:[a-z]+ )?(?:{MONEY}) from {{source}}",
        SOMEONE,
        MADE_THING,
    ),
    row(
        "stopped_sponsoring",
        "sponsors",
        f"{{source}} (?:pulled out of|(?:withdrew|withdraws|withdrawn) from|(?:ended|ends|stopped|stops|withdrew"
        f"|withdraws|cut"
        f"|cuts) (?:its|their|his|her|all|the) (?:{MONEY}) (?:for|of|to)) {{target}}",
        ("", "organisation"),
        MADE_THING,
        LIKELY,
        Phase.CLOSES,
    ),
)
