"""Patterns of membership and leadership: who belongs to which group, and who leads it."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import NAME
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import (
    AMBIGUOUS,
    CLEAR,
    GROUP,
    HEAD,
    LIKELY,
    PERSON,
    SOMEONE,
    STANDING,
    TEAM,
    nominal,
    row,
    verbal,
)

BELONGING: Final = (
    *nominal(
        "member",
        "member_of",
        f"{STANDING}(?:members?|part)",
        SOMEONE,
        GROUP,
        holder="source",
        confidence=CLEAR,
        of="of",
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
        "{source} (?P<noun>)(?:on|in|with) {target}",
        PERSON,
        TEAM,
        LIKELY,
        cues="is are am was were been",
    ),
    # Written out, the article does not keep a verb from following: "Ada from the Platform team met Bo".
    row(
        "of_team",
        "member_of",
        "{source} (?:of|from) (?:the |our |my |their )?{target}",
        PERSON,
        TEAM,
        LIKELY,
        cues="of from",
        confirms=False,
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
        "joined_group",
        "member_of",
        "{source} (?:joined|rejoined|joins|joining|(?P<plain>join)) (?=the ){target}",
        PERSON,
        ("", "team"),
        AMBIGUOUS,
        Phase.OPENS,
    ),
    row(
        "left_team",
        "member_of",
        "{source} (?:left|leaves|leaving|(?P<plain>leave)|quit|(?:moved|switched|transferred) (?:over )?(?:away "
        ")?from|(?:stepped|steps|stepping) down from|(?:dropped|drops|dropping) out of|resigned from) {target}",
        PERSON,
        ("team", "project"),
        CLEAR,
        Phase.CLOSES,
    ),
    row(
        "left_group",
        "member_of",
        "{source} (?:left|leaves|leaving|(?P<plain>leave)|quit|(?:resigned|retired) from) (?=the ){target}",
        PERSON,
        ("", "team"),
        AMBIGUOUS,
        Phase.CLOSES,
    ),
    *verbal(
        "leads",
        "leads",
        "lead led, co-lead co-led, head, head + up, run ran run running, chair, co-chair, captain, coach, "
        "oversee oversaw overseen overseeing, coordinate, look + after",
        PERSON,
        GROUP,
        over=("team", "organisation", "project"),  # whoever ran the London Marathon was on foot
        guard=f"(?!'s| to {NAME})",
    ),
    row(
        "in_charge_of",
        "leads",
        "{source} (?:in charge of|at the (?:helm|head) of) {target}(?!'s)",
        PERSON,
        GROUP,
    ),
    row(
        "responsible_for",
        "leads",
        "{source} (?:responsible|accountable) for {target}(?!'s)",
        PERSON,
        ("team", "project", "event"),
    ),
    *nominal("head", "leads", HEAD, PERSON, GROUP, holder="source", of="of|for"),
    row(
        "manages_group",
        "leads",
        "{source} (?:manages|managing|(?P<plain>manage)) {target}",
        PERSON,
        ("team", "project", "organisation", "event", "facility"),
    ),
    row(
        "took_over",
        "leads",
        f"{{source}} (?:(?:took|takes|taken|taking) over|put in charge of)(?: as {HEAD} of)? {{target}}(?!'s)",
        PERSON,
        ("", "team", "organisation", "project"),
        LIKELY,
        Phase.OPENS,
    ),
    row(
        "succeeded",
        "leads",
        f"{{source}} (?:succeeded|succeeds|replaced|replaces|took over from) {{any}} as (?:the )?{HEAD} (?:of|at) "
        "{target}",
        PERSON,
        GROUP,
        CLEAR,
        Phase.OPENS,
        called="succeeded succeeds replaced replaces took",
    ),
    row(
        "succeeded_by",
        "leads",
        f"(?:succeeded|succeeds|replaced|replaces|took over from) {{source}} as (?:the )?{HEAD} (?:of|at) {{target}}",
        PERSON,
        GROUP,
        CLEAR,
        Phase.CLOSES,
        called="succeeded succeeds replaced replaces took",
    ),
    row(
        "taken_over_from",
        "leads",
        "(?:took|takes|taken|taking|(?P<plain>take)) over(?: as [a-z -]{1,30} of)? (?:the |our )?{target} from "
        "{source}",
        PERSON,
        ("", "team", "organisation", "project"),
        LIKELY,
        Phase.CLOSES,
        cues="over",
    ),
    row(
        "led_instead_of",
        "leads",
        "(?:leads|heads|runs|chairs|leading|heading|running|chairing) (?:the |our )?{target} (?:instead of|in place "
        "of|rather than) {source}",
        PERSON,
        GROUP,
        LIKELY,
        Phase.CLOSES,
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
)
