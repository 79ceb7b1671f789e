"""Patterns about things: who made them, what they use and depend on, and who pays for them."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import (
    AMBIGUOUS,
    AMID,
    BACKER,
    CLEAR,
    LIKELY,
    MADE_THING,
    MAKER,
    SOMEONE,
    SPONSORED,
    SYSTEM,
    TOOL,
    USER,
    nominal,
    row,
    verbal,
)

_ON: Final = "(?:[a-z]+ly )?(?:on|upon)"

# "moved all our records from Excel to Airtable"
_MOVED: Final = (
    "(?:(?:moved|moves|moving|switched|switches|switching|migrated|migrates|migrating|changed|upgraded|converted)"
    "(?: (?:(?:all )?(?:of )?(?:our|my|the|their|its|his|her|everything|everyone|all|over|entirely|fully)(?: "
    "(?!from|to)[a-z-]+)"
    "{0,3}))?)"
)

MAKING: Final = (
    *verbal(
        "created",
        "created",
        "build built, create, write wrote written, rewrite rewrote rewritten, develop, design, invent, author, "
        "compose, co-create, co-write co-wrote co-written, co-author, co-found, establish",
        SOMEONE,
        MADE_THING,
        lasting=True,
        before="(?:the (?:first|initial|original) (?:version|draft|prototype) of )?",
        guard="(?!'s| (?:an?|the|some|my|his|her|their|our|this) )",  # "wrote Emma a letter"
    ),
    row("founded", "created", "{source} (?:founded|invented) {target}", SOMEONE, MADE_THING, CLEAR, Phase.DONE),
    row(
        "made_by",
        "created",
        "{target} (?:(?:an?|the) [a-z -]{1,40} )?(?:founded|made|written|built|created|developed|designed"
        "|invented|composed|authored|started|launched|initiated) "
        f"{AMID}by {{source}}(?!'s)",
        SOMEONE,
        MADE_THING,
        CLEAR,
        Phase.DONE,
    ),
    *nominal("creator", "created", MAKER, SOMEONE, MADE_THING, holder="source", phase=Phase.DONE, of="of|behind"),
    *verbal("uses", "uses", "use, utilise, utilize", USER, TOOL, past=LIKELY, guard="(?!'s)"),
    *verbal("runs_on", "uses", "run ran run running + on", USER, TOOL, passive=False, guard="(?!'s team)"),
    *verbal(
        "depends_on",
        "depends_on",
        f"depend + {_ON}, rely + {_ON}",
        SYSTEM,
        SYSTEM,
        passive=False,
        past=CLEAR,
    ),
    row(
        "built_with",
        "uses",
        "{source} (?:built (?:on|with)|written in|deployed on|hosted on) {target}(?!'s team)",
        SYSTEM,
        TOOL,
        CLEAR,
        Phase.DONE,
    ),
    row(
        "adopted",
        "uses",
        "{source} (?:adopted|adopts|(?P<plain>adopt|switch to|migrate to)|replaced {any} (?:with|by)) {target}",
        USER,
        ("tool",),
        LIKELY,
        Phase.OPENS,
    ),
    row(  # who switches to geology is a person
        "switched",
        "uses",
        "{source} (?:switched|switches|switching) (?:over )?to {target}",
        ("", "team", "organisation", "project", "tool"),
        TOOL,
        LIKELY,
        Phase.OPENS,
    ),
    row(
        "dropped",
        "uses",
        "{source} (?:abandoned|dropped|ditched|gave up|deprecated|(?:switched|migrated|upgraded) (?:over )?(?:away "
        ")?from|moved off|moved (?:over|across) from(?= [^ ]+ to )|moved "
        "away from|got rid of|replaced(?= [^ ]+ (?:with|by) )) {target}",
        USER,
        ("tool",),
        AMBIGUOUS,
        Phase.CLOSES,
    ),
    row(
        "moved_from_tool",
        "uses",
        f"{{source}} {_MOVED} (?:over |away )?(?:from|off) {{target}}(?= (?:over )?(?:on|in)?to )",
        USER,
        ("tool",),
        AMBIGUOUS,
        Phase.CLOSES,
        called="moved moves moving switched switches switching migrated migrates migrating upgraded converted changed",
    ),
    row(
        "moved_to_tool",
        "uses",
        f"{{source}} {_MOVED} (?:over )?(?:from {{any}} )?(?:over )?(?:on)?to {{target}}",
        USER,
        ("tool",),
        LIKELY,
        Phase.OPENS,
        called="moved moves moving switched switches switching migrated migrates migrating upgraded converted changed",
    ),
)

PAYING: Final = (
    *verbal(
        "sponsors",
        "sponsors",
        "sponsor, co-sponsor, fund, finance, bankroll, underwrite underwrote underwritten, subsidise, subsidize",
        SOMEONE,
        SPONSORED,
        past=LIKELY,
    ),
    *nominal("sponsor", "sponsors", BACKER, SOMEONE, MADE_THING, holder="source"),
)
