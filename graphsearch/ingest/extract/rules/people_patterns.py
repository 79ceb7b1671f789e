"""Patterns about people: whom they report to, whom they work with and for, where they live."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import NAME
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import (
    AMBIGUOUS,
    ANYTHING,
    BOSS,
    CLEAR,
    COMPANY,
    DWELLING,
    EMPLOYER,
    EMPLOYING,
    HOME,
    JOB,
    LIKELY,
    MATE,
    OFFICER,
    PERSON,
    PLACE,
    REPORT,
    RESIDENT,
    SOMEONE,
    nominal,
    row,
    verbal,
)

_STRAIGHT: Final = "(?:(?:directly|now|back|straight|only) )?"

# Companies have no article, groups have one: "joined Acme", "joined the Harbour Council".
_EMPLOYED: Final = (("", "(?!the )", COMPANY), ("_the", "(?=the )", ("organisation", "tool", "facility")))

REPORTING: Final = (
    *verbal(
        "reports_to",
        "reports_to",
        f"report + {_STRAIGHT}(?:to|into|in to), answer + {_STRAIGHT}to, work + (?:under|directly under), "
        "come came come coming + (?:directly )?under, "
        "take took taken + (?:(?:her|his|their|my) )?orders from",
        ("person?", "team", "organisation"),
        PERSON,
        passive=False,
        past=LIKELY,
        over=PERSON,
    ),
    *verbal("manages", "reports_to", "manage, supervise, line-manage", PERSON, PERSON, inverse=True),
    row(
        "became_manager_of", "reports_to", f"{{target}} became {{source}}'s {BOSS}", PERSON, PERSON, CLEAR, Phase.OPENS
    ),
    *nominal("manager", "reports_to", BOSS, PERSON, PERSON, holder="target", confidence=CLEAR, of="of|to|for"),
    *nominal("report", "reports_to", REPORT, PERSON, PERSON, holder="source", confidence=CLEAR, of="of|to"),
    row(
        "left_team_of",
        "reports_to",
        "{source} (?:left|leaves|leaving|moved from|(?P<plain>leave)) {target}'s team",
        PERSON,
        PERSON,
        AMBIGUOUS,
        Phase.CLOSES,
    ),
)

WORKING: Final = (
    *nominal("colleague", "works_with", MATE, PERSON, PERSON, holder="source"),
    *nominal("employer", "works_at", EMPLOYING, PERSON, COMPANY, holder="target", of="of"),
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
        "work_together",
        "works_with",
        "{source},? and {target} (?:are |have |been |now |both |also )*(?:work|worked|working|collaborate"
        "|collaborated|collaborating|teamed up|paired up|partnered|(?:co-)?wrote)(?: closely)?(?: together)?(?= "
        "(?:on|together)|[.,!;]|$)",
        SOMEONE,
        SOMEONE,
        LIKELY,
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
        "came_from",
        "works_at",
        "{source} (?:came|comes|moved|moves|moving|switched|transferred|poached) (?:over |across |here |to us )*from "
        "{target}",
        PERSON,
        ("organisation", "facility"),
        LIKELY,
        Phase.CLOSES,
    ),
    # "from" where the name is the subject: whom we hired from Acme left it.
    *(
        row(name, "works_at", template, ("person",), ("organisation",), LIKELY, cues=cue, confirms=False)
        for name, cue, template in (
            ("of_firm", "of", "{source} of (?:the )?{target}"),
            ("from_firm", "from", "^{source} from (?:the )?{target}"),
        )
    ),
    row(
        "freelances_for",
        "works_at",
        "{source} (?:freelances|freelancing|temps|temping) (?:for|at) {target}",
        PERSON,
        COMPANY,
    ),
    row(
        "employed_by",
        "works_at",
        "{source} (?:employed (?:by|at)|on the (?:staff|payroll) (?:of|at)) {target}",
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
        f"{{source}} (?:(?:worked|taught|served|interned)(?: as (?:an? |the )?{JOB})?|(?:was|were) (?:employed"
        f"|{JOB})) "
        "(?:at|for|by) {target}(?!'s team)",
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
    # "Bo moved to Oslo in May to join Helvar Bank"
    row(
        "left_to_join",
        "works_at",
        "{source} (?:moved|relocated|left|quit|resigned|transferred)[^.;:?]{0,60} to (?:join|work (?:at|for)) {target}"
        "(?!'s team| team)",
        PERSON,
        COMPANY,
        0.75,
        Phase.OPENS,
        called="join work",
    ),
    *(
        row(
            f"{which}_day_at",
            "works_at",
            f"{{source}}'s (?:very )?{which} (?:working )?day (?:at|with) {{target}}",
            PERSON,
            EMPLOYER,
            LIKELY,
            phase,
            cues="day",
        )
        for which, phase in (("first", Phase.OPENS), ("last", Phase.CLOSES))
    ),
    row("hired", "works_at", "{target} (?:hired|recruited) {source}", PERSON, EMPLOYER, AMBIGUOUS, Phase.OPENS),
    row(
        "started_at",
        "works_at",
        "{source} (?:(?:started|starts|starting|began|begins|(?P<plain>start)) (?:working |work |(?:an?|her|his"
        "|their) "
        f"(?:new )?job |as (?:an? |the )?{JOB} )?(?:at|with)|(?:took|accepted|got|landed) (?:an?|the|her|his) "
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
        for name, article, types in _EMPLOYED
    ),
    *(
        row(
            f"left{name}",
            "works_at",
            "{source} (?:left|quit|leaves|leaving|(?P<plain>leave)|(?:resigned|retired|departed|gone) from"
            "|(?:left|quit|leaves) (?:his|her|their|my|the) job (?:at|with)|(?:got )?(?:fired|laid off|let go) "
            f"(?:from|by)|stopped working (?:at|for)) {article}{{target}}(?!'s team| team| for {NAME})",
            PERSON,
            types,
            0.75,
            Phase.CLOSES,
        )
        for name, article, types in _EMPLOYED
    ),
)

LIVING: Final = (
    *nominal("home", "lives_in", HOME, PERSON, PLACE, holder="target", of="of"),
    *nominal("resident", "lives_in", RESIDENT, PERSON, PLACE, holder="source", of="of|in"),
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
    row("calls_home", "lives_in", "{source} (?:calls|calling|(?P<plain>call)) {target} home", PERSON, PLACE),
    row(
        "has_home_in",
        "lives_in",
        f"{{source}} (?:has|have|bought|rents|renting|owns|got) (?:an?|the) (?:[a-z]+ )?{DWELLING} (?:over |up |down "
        f"|out )?"
        "in {target}",
        PERSON,
        PLACE,
        LIKELY,
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
    row(
        "entered_status",
        "has_status",
        "{source} (?:entered|enters|entering|(?:moved|moves) (?:in)?to|went into|reached|(?P<plain>enter)|status "
        "(?:changed|moved|went|switched) (?:from [a-z-]+ )?to) {target}",
        ANYTHING,
        ("status",),
        CLEAR,
        Phase.OPENS,
    ),
    row(
        "status_changed",
        "has_status",
        "{source}'s status (?:changed|moved|went|switched) (?:from [a-z-]+ )?to {target}",
        ANYTHING,
        ("status",),
        CLEAR,
        Phase.OPENS,
    ),
    row(
        "left_status",
        "has_status",
        "{source} (?:left|leaves|exited|leaving) {target}",
        ANYTHING,
        ("status",),
        CLEAR,
        Phase.CLOSES,
    ),
)
