"""How English says who belongs to, leads and pays for what."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.text.pattern_rows import (
    AMBIGUOUS,
    CLEAR,
    GROUP,
    HEAD,
    LIKELY,
    PERSON,
    SOMEONE,
    SPONSORED,
    TEAM,
    row,
)
from graphsearch.ingest.text.patterns import Phase

BELONGING: Final = (
    row(
        "member_of",
        "member_of",
        "{source} (?:became )?(?P<noun>)(?:an? |the )?(?:(?:new|core|founding|active|senior|board|honorary|proud) "
        ")*(?:members?|part) of {target}",
        SOMEONE,
        GROUP,
    ),
    row(
        "belongs_to",
        "member_of",
        "{source} (?:belongs to|(?:sits|serves) on(?: the board of)?|is on the board of|(?P<plain>belong to|serve "
        "on|sit on)) {target}(?!'s team)",
        SOMEONE,
        GROUP,
    ),
    row(
        "on_team",
        "member_of",
        "{source} (?:works|working|sits|(?P<plain>work)) (?:on|in|for) {target}",
        PERSON,
        TEAM,
        LIKELY,
    ),
    row(
        "is_on_team",
        "member_of",
        "{source} (?P<noun>)(?:on|in) {target}",
        PERSON,
        TEAM,
        LIKELY,
        cues="is are am was were",
    ),
    row(
        "plays_for",
        "member_of",
        "{source} (?:plays|sings|swims|races|(?P<plain>play|sing)) (?:[a-z]+ )?(?:for|in|with) {target}",
        PERSON,
        ("organisation", "team"),
        AMBIGUOUS,
    ),
    row(
        "joined_team",
        "member_of",
        "{source} (?:joined|rejoined|joins|joining|(?:moved|moves|moving|switched|transferred) (?:over )?(?:from "
        "{any} )?to|(?P<plain>join|move to)) {target}",
        PERSON,
        ("team", "project"),
        CLEAR,
        Phase.OPENS,
    ),
    row(
        "left_team",
        "member_of",
        "{source} (?:left|leaves|leaving|(?P<plain>leave)|quit|(?:moved|switched|transferred) (?:over )?(?:away "
        ")?from) {target}",
        PERSON,
        ("team", "project"),
        CLEAR,
        Phase.CLOSES,
    ),
    row(
        "leads",
        "leads",
        "{source} (?:leads|leading|heads|heading|runs|running|chairs|directs|captains|coaches|(?P<plain>lead|head"
        "|run)|in charge of) {target}(?!'s)",
        PERSON,
        GROUP,
    ),
    row(
        "manages_group",
        "leads",
        "{source} (?:manages|managing|(?P<plain>manage)) {target}",
        PERSON,
        ("team", "project", "organisation", "event"),
    ),
    row(
        "led",
        "leads",
        "{source} (?:led|headed|ran|chaired|directed|managed|captained) {target}(?!'s)",
        PERSON,
        ("team", "organisation", "project", "event"),
        AMBIGUOUS,
        Phase.ENDED,
    ),
    row(
        "was_led_by",
        "leads",
        "{target} (?:was|were|had been) (?:led|headed|run|chaired|captained) by {source}",
        PERSON,
        GROUP,
        LIKELY,
        Phase.ENDED,
    ),
    row("led_by", "leads", "{target} (?:led|headed|run|chaired|captained) by {source}", PERSON, GROUP),
    row(
        "group_managed_by",
        "leads",
        "{target} managed by {source}",
        PERSON,
        ("team", "project", "organisation", "event"),
    ),
    row(
        "is_head_of",
        "leads",
        f"{{source}} (?:serves as |named |appointed |became )?(?P<noun>)(?:an? |the )?{HEAD} of {{target}}(?!'s)",
        PERSON,
        GROUP,
        LIKELY,
    ),
    row("is_head", "leads", f"{{source}} (?P<noun>){{target}}'s (?:new |current )?{HEAD}", PERSON, GROUP, LIKELY),
    row(
        "took_over",
        "leads",
        f"{{source}} (?:took over|takes over|taking over|put in charge of)(?: as {HEAD} of)? {{target}}(?!'s)",
        PERSON,
        ("", "team", "organisation", "project"),
        LIKELY,
        Phase.OPENS,
    ),
    row(
        "stepped_down",
        "leads",
        f"{{source}} (?:(?:stepped down|resigned|retired) as (?:the )?{HEAD} (?:of|at)|stepped down from|stopped "
        "leading|handed over) "
        "{target}",
        PERSON,
        GROUP,
        LIKELY,
        Phase.CLOSES,
    ),
    row(
        "sponsors",
        "sponsors",
        "{source} (?:sponsors|sponsored|sponsoring|funds|funded|funding|finances|financed|bankrolls"
        "|(?P<plain>sponsor|fund|finance)) {target}",
        SOMEONE,
        SPONSORED,
        CLEAR,
        Phase.DONE,
    ),
    row(
        "sponsored_by",
        "sponsors",
        "{target} (?:sponsored|funded|financed) by {source}",
        SOMEONE,
        SPONSORED,
        CLEAR,
        Phase.DONE,
    ),
)
