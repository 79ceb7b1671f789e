"""How English says what was made by whom, and what uses or needs what."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.text.pattern_rows import (
    AMBIGUOUS,
    CLEAR,
    LIKELY,
    MADE,
    MADE_THING,
    MAKER,
    MAKES,
    SOMEONE,
    SYSTEM,
    TOOL,
    USER,
    row,
)
from graphsearch.ingest.text.patterns import Phase
from graphsearch.ingest.text.skeleton import DATE, NAME

MAKING: Final = (
    row(
        "created",
        "created",
        f"{{source}} {MAKES} (?:the (?:first|initial|original) (?:version|draft|prototype) of )?{{target}}(?!'s)",
        SOMEONE,
        MADE_THING,
        CLEAR,
        Phase.DONE,
    ),
    row(
        "founded",
        "created",
        "{source} (?:founded|co-founded|cofounded|established|set up) {target}",
        SOMEONE,
        MADE_THING,
        CLEAR,
        Phase.DONE,
    ),
    row(
        "created_by",
        "created",
        f"{{target}} (?:first |originally |mostly |jointly )?(?:(?:an?|the) [a-z -]{{1,40}} )?{MADE} (?:in house "
        f"|together )?(?:(?:at|in) {NAME} )?(?:in {DATE} )?by {{source}}",
        SOMEONE,
        MADE_THING,
        CLEAR,
        Phase.DONE,
    ),
    row(
        "is_creator",
        "created",
        f"{{source}} (?P<noun>){{target}}'s {MAKER}",
        SOMEONE,
        MADE_THING,
        LIKELY,
        Phase.DONE,
    ),
    row(
        "is_creator_of",
        "created",
        f"{{source}} (?P<noun>){MAKER} of {{target}}",
        SOMEONE,
        MADE_THING,
        LIKELY,
        Phase.DONE,
    ),
    row(
        "uses",
        "uses",
        "{source} (?:uses|using|utilises|utilizes|runs on|running on|powered by|(?P<plain>use|run on)) "
        "{target}(?!'s team)",
        USER,
        TOOL,
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
    row("used", "uses", "{source} used {target}", USER, TOOL, LIKELY, Phase.ENDED),
    row("used_by", "uses", "{target} (?:widely )?used by {source}", USER, TOOL),
    row(
        "adopted",
        "uses",
        "{source} (?:adopted|adopts|(?:switched|switches|migrated|migrates|changed|upgraded|moved over) (?:from "
        "{any} )?to|(?P<plain>adopt|switch to|migrate to)|replaced {any} (?:with|by)) {target}",
        USER,
        TOOL,
        LIKELY,
        Phase.OPENS,
    ),
    row(
        "dropped",
        "uses",
        "{source} (?:abandoned|dropped|deprecated|(?:switched|migrated|upgraded) (?:away )?from|moved off|moved "
        "away from|got rid of|replaced(?= [^ ]+ (?:with|by) )) {target}",
        ("", "person", "organisation", "team", "project", "tool"),
        TOOL,
        AMBIGUOUS,
        Phase.CLOSES,
    ),
    row(
        "depends_on",
        "depends_on",
        "{source} (?:depends|depended|depending|relies|relied|relying|(?P<plain>depend|rely)) (?:[a-z]+ly )?(?:on"
        "|upon) {target}",
        SYSTEM,
        SYSTEM,
    ),
    row(
        "is_dependent_on",
        "depends_on",
        "{source} (?:dependent on|blocked by|blocked on) {target}",
        SYSTEM,
        SYSTEM,
        LIKELY,
    ),
    row("requires", "depends_on", "{source} requires {target}", SYSTEM, SYSTEM, AMBIGUOUS),
    row(
        "is_dependency_of",
        "depends_on",
        "{target} (?P<noun>)(?:a |an |the )?(?:hard |direct |core )?(?:dependency|prerequisite) (?:of|for) {source}",
        SYSTEM,
        SYSTEM,
    ),
)
