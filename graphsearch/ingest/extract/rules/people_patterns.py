"""Patterns about people: whom they report to, whom they work with and for, where they live."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import NAME
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import (
    AMBIGUOUS,
    BOSS,
    CLEAR,
    COMPANY,
    EMPLOYER,
    JOB,
    LIKELY,
    OFFICER,
    PERSON,
    PLACE,
    SOMEONE,
    nominal,
    row,
    verbal,
)

_STRAIGHT: Final = "(?:(?:directly|now|back|straight|only) )?"

_HOUSES: Final = ("organisation", "facility")
# Companies have no article, groups have one: "joined Acme", "joined the Harbour Council".
# Whoever leaves a single word, may leave a place or a person: "left Paris".
_JOINED: Final = (("", "(?!the )", ("organisation", "facility", "employer?")), ("_the", "(?=the )", _HOUSES))
_LEFT: Final = (("", "(?!the )", ("organisation", "facility", "firm?")), ("_the", "(?=the )", _HOUSES))

REPORTING: Final = (
    *verbal(
        "reports_to",
        "reports_to",
        f"report + {_STRAIGHT}(?:to|into|in to), answer + {_STRAIGHT}to, work + (?:under|directly under)",
        ("person?", "team", "organisation"),
        PERSON,
        passive=False,
        past=LIKELY,
        over=PERSON,
    ),
    *verbal("manages", "reports_to", "manage, supervise, line-manage", PERSON, PERSON, inverse=True),
    *nominal("manager", "reports_to", BOSS, PERSON, PERSON, holder="target", confidence=CLEAR, of="of|to|for"),
)

WORKING: Final = (
    row(
        "works_with",
        "works_with",
        "{source} (?:works|worked|working|collaborates|collaborated|collaborating|partners|partnered|paired|pairs"
        "|pairing|teams up|teaming up|teamed up|(?P<plain>work|collaborate|partner|pair|team up)) "
        "(?:[a-z]+ly |very |together |often )*(?:with"
        "|alongside) {target}",
        SOMEONE,
        SOMEONE,
        CLEAR,
        Phase.DONE,
    ),
    row(
        "works_at",
        "works_at",
        f"{{source}} (?:works|working|(?:teaches|teaching)(?: (?!at )(?:[a-z]+|{NAME})){{0,3}}|(?P<plain>work|teach)) "
        f"(?:(?:full|part)[ -]time |remotely |again |as (?:an? |the )?{JOB} )?(?:at|for) {{target}}(?!'s team)",
        PERSON,
        EMPLOYER,
    ),
    row(
        "has_job_at",
        "works_at",
        f"{{source}} (?:works as |serves as |became |working as )?(?P<noun>)(?:an? |the )?"
        f"(?:{JOB}(?: of (?:{NAME}|[a-z]+))? (?:at|for|with)|{OFFICER} of) "
        f"(?!(?:the )?{NAME} (?:and|&) {NAME}){{target}}(?! at {NAME})",  # "at Crane and Abbot" may be one
        PERSON,
        EMPLOYER,
        LIKELY,
    ),
    row(
        "worked_at",
        "works_at",
        f"{{source}} (?:(?:worked|taught|served|interned)(?: as (?:an? |the )?{JOB})? (?:at|for)"
        "|(?:was|were) (?:employed"
        f" by|{JOB} (?:at|for))) "
        "{target}(?!'s team)",
        PERSON,
        EMPLOYER,
        LIKELY,
        Phase.ENDED,
        cues="was were",
    ),
    row(
        "hired_by",
        "works_at",
        "{source} (?:got )?(?:hired|recruited) (?:by|at) {target}",
        PERSON,
        EMPLOYER,
        CLEAR,
        Phase.OPENS,
    ),
    row("employs", "works_at", "{target} (?:employs|(?P<plain>employ)) {source}(?!'s)", PERSON, EMPLOYER, CLEAR),
    row(
        "left_job_at",
        "works_at",
        "{source} (?:(?:resigned|retired|departed) from|(?:left|quit|leaves) (?:his|her|their|my|the) job (?:at|with)"
        "|(?:got )?(?:fired|laid off|let go) (?:from|by)) {target}(?!'s team| team)",
        PERSON,
        EMPLOYER,
        0.75,
        Phase.CLOSES,
    ),
    row("hired", "works_at", "{target} (?:hired|recruited) {source}", PERSON, EMPLOYER, AMBIGUOUS, Phase.OPENS),
    row(
        "started_at",
        "works_at",
        "{source} (?:(?:started|starts|starting|began|begins|(?P<plain>start)) (?:working |work |(?:an?|her|his"
        "|their) "
        f"(?:new )?job |as (?:an? |the )?{JOB} )?at|(?:took|accepted|got|landed) (?:an?|the|her|his) "
        "(?:new )?"
        "(?:job|role|position|offer|internship) (?:at|from|with)) {target}",
        PERSON,
        COMPANY,
        LIKELY,
        Phase.OPENS,
    ),
    row(
        "moved_to_company",
        "works_at",
        "{source} (?:moved|moves|moving|switched|transferred) (?:over )?(?:from {any} )?(?:over )?to {target}",
        PERSON,
        ("organisation",),
        LIKELY,
        Phase.OPENS,
    ),
    *(
        row(
            f"joined{name}",
            "works_at",
            f"{{source}} (?:joined|rejoined|joins|joining|(?P<plain>join)) {article}{{target}}(?!'s team| team)",
            PERSON,
            types,
            0.75,
            Phase.OPENS,
        )
        for name, article, types in _JOINED
    ),
    *(
        row(
            f"left{name}",
            "works_at",
            f"{{source}} (?:left|quit|leaves|leaving|(?P<plain>leave)) {article}{{target}}"
            f"(?!'s team| team| for {NAME})",
            PERSON,
            types,
            0.75,
            Phase.CLOSES,
        )
        for name, article, types in _LEFT
    ),
)

LIVING: Final = (
    row(
        "lives_in",
        "lives_in",
        "{source} (?:lives|living|resides|residing|lodging|lodges|(?P<plain>live|reside|lodge)) "
        f"(?:together |alone |happily |now |(?:over|up|down|out) |with (?:[a-z]+ ){{0,3}}(?:{NAME} )?)*(?:in|near) "
        "{target}",
        ("person?", "organisation", "team"),
        PLACE,
    ),
    row(  # so are firms
        "based_in",
        "lives_in",
        "{source} (?:based|located) (?:now |(?:over|up|down|out) )*(?:in|near) {target}",
        ("", "person", "organisation", "team", "facility"),
        PLACE,
    ),
    row(
        "lived_in",
        "lives_in",
        "{source} (?:lived|resided|grew up|raised) (?:for years )?in {target}",
        PERSON,
        PLACE,
        LIKELY,
        Phase.ENDED,
    ),
    row(
        "moved_to",
        "lives_in",
        "{source} (?:moved|relocated|moves|moving|relocates|relocating|emigrated|(?P<plain>move|relocate)) (?:back "
        "|out |over |home |permanently )*(?:from {any} )?(?:back )?to {target}(?!'s team| team)",
        ("person?",),
        PLACE,
        0.75,
        Phase.OPENS,
    ),
    row(
        "moved_from",
        "lives_in",
        "{source} (?:moved|relocated|emigrated|moves|moving) (?:away |out |back )?(?:from|of) {target}(?!'s team| "
        "team)",
        PERSON,
        PLACE,
        AMBIGUOUS,
        Phase.CLOSES,
    ),
)
