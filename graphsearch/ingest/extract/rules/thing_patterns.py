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
    MONEY,
    SOMEONE,
    SPONSORED,
    SYSTEM,
    TOOL,
    USER,
    WORK,
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
        "compose, "
        "paint, co-create, co-write co-wrote co-written, co-author, prototype, implement, code, program programmed, "
        "devise, co-found, cobble + together, knock + together, hack + together, think thought + up, dream + up, "
        "establish, put put put putting + together, set set set setting + up, "
        "come came come coming + up with",
        SOMEONE,
        MADE_THING,
        lasting=True,
        before="(?:the (?:first|initial|original) (?:version|draft|prototype) of )?",
        guard="(?!'s)",
    ),
    row("founded", "created", "{source} (?:founded|invented) {target}", SOMEONE, MADE_THING, CLEAR, Phase.DONE),
    row(
        "made",
        "created",
        "{source} made {target}(?= *[.,;!]|$| (?:in|on|over|for|last|back|as|during|before|after|himself|herself)\\b)",
        SOMEONE,
        ("", "project", "tool"),
        AMBIGUOUS,
        Phase.DONE,
    ),
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
    row(
        "is_by",
        "created",
        "{target}(?:'s| is| was| are) (?:also |all |another one |yet another one )*by {source}",
        ("", "person"),
        ("", "project", "tool"),
        LIKELY,
        Phase.DONE,
        cues="by is was are",
    ),
    row(
        "work_of",
        "created",
        "{target}(?: is| was|'s|,)(?: all)?(?: the)? work of {source}",
        SOMEONE,
        MADE_THING,
        LIKELY,
        Phase.DONE,
    ),
    *nominal("brainchild", "created", WORK, SOMEONE, MADE_THING, holder="target", phase=Phase.DONE, of="of"),
    *verbal("uses", "uses", "use, utilise, utilize", USER, TOOL, past=LIKELY, guard="(?!'s team)"),
    *verbal("runs_on", "uses", "run ran run running + on", USER, TOOL, passive=False, guard="(?!'s team)"),
    row(
        "stores_in",
        "uses",
        "{source} (?:stores|keeps|saves|logs|persists|caches|tracks|(?P<plain>store|keep|save|log|track)) "
        "(?:(?:all|its|our|my|their|his|her|the|most) )*(?:[a-z-]+ ){1,3}(?:in|to|with) {target}",
        USER,
        ("tool",),
        LIKELY,
        called="stores keeps saves logs persists caches tracks store keep save log track",
    ),
    row("powered_by", "uses", "{source} powered by {target}", USER, TOOL),
    *verbal(
        "depends_on",
        "depends_on",
        f"depend + {_ON}, rely + {_ON}, lean + {_ON}, hinge + {_ON}, sit sat sat sitting + on top of, hang hung + off",
        SYSTEM,
        SYSTEM,
        passive=False,
        past=CLEAR,
    ),
    row(
        "not_without",
        "depends_on",
        "{source} (?:(?:can't|cannot|can not|won't|will not|doesn't|does not|couldn't) (?:even )?(?:run|work|start"
        "|live|function|do"
        "|operate|move|go)|useless|dead|nothing|lost|stuck|(?:falls|breaks|stops|dies)(?: over| down)?) (?:at all "
        ")?without {target}",
        SYSTEM,
        SYSTEM,
        LIKELY,
    ),
    *verbal("requires", "depends_on", "require, need", SYSTEM, SYSTEM, confidence=AMBIGUOUS),
    *nominal(
        "dependency",
        "depends_on",
        "(?:hard |direct |core )?(?:dependency|dependencies|prerequisite)",
        SYSTEM,
        SYSTEM,
        holder="target",
        confidence=CLEAR,
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
        "{source} (?:adopted|adopts|(?:switched|switches|switching|migrated|migrates|migrating|changed|upgraded"
        "|(?:moved|moves|moving) (?:over|across)) (?:over )?(?:from "
        "{any} )?to|(?P<plain>adopt|switch to|migrate to)|replaced {any} (?:with|by)) {target}",
        USER,
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
        ("", "person", "organisation", "team", "project", "tool"),
        TOOL,
        AMBIGUOUS,
        Phase.CLOSES,
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
    row(
        "moved_from_tool",
        "uses",
        f"{{source}} {_MOVED} (?:over |away )?(?:from|off) {{target}}(?= (?:over )?(?:on|in)?to )",
        ("", "person", "organisation", "team", "project", "tool", "facility"),
        ("tool",),
        AMBIGUOUS,
        Phase.CLOSES,
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
)
