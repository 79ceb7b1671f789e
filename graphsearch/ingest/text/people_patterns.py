"""How English says whom people report to, whom they work with and for, and where they live."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.text.pattern_rows import (
    AMBIGUOUS,
    ANYTHING,
    BOSS,
    CLEAR,
    COMPANY,
    EMPLOYER,
    GUESSED,
    JOB,
    LIKELY,
    MATE,
    OFFICER,
    PERSON,
    PLACE,
    SOMEONE,
    row,
)
from graphsearch.ingest.text.patterns import Phase
from graphsearch.ingest.text.skeleton import NAME

REPORTING: Final = (
    row(
        "reports_to",
        "reports_to",
        "{source} (?:reports|reporting|(?P<plain>report)) (?:directly |now |back |straight )?to {target}",
        ("person?", "team", "organisation"),
        PERSON,
    ),
    row(
        "reported_to",
        "reports_to",
        "{source} reported (?:directly )?to {target}",
        PERSON,
        PERSON,
        LIKELY,
        Phase.ENDED,
    ),
    row(
        "managed_by",
        "reports_to",
        "{source} (?:is|are|being) (?:now )?(?:managed|supervised) by {target}",
        PERSON,
        PERSON,
    ),
    row(
        "manages",
        "reports_to",
        "{target} (?:manages|supervises|managing|supervising|(?P<plain>manage|supervise)) {source}",
        PERSON,
        PERSON,
    ),
    row("managed", "reports_to", "{target} (?:managed|supervised) {source}", PERSON, PERSON, AMBIGUOUS, Phase.ENDED),
    row("has_manager", "reports_to", f"{{source}}'s {BOSS} (?:is |was )?(?:now |called )?{{target}}", PERSON, PERSON),
    row("is_manager_of", "reports_to", f"{{target}} (?P<noun>){{source}}'s {BOSS}", PERSON, PERSON),
    row("is_boss_of", "reports_to", f"{{target}} (?P<noun>)the {BOSS} of {{source}}", PERSON, PERSON),
    row(
        "became_manager_of",
        "reports_to",
        f"{{target}} became {{source}}'s {BOSS}",
        PERSON,
        PERSON,
        CLEAR,
        Phase.OPENS,
    ),
    row("direct_report", "reports_to", "{source} (?P<noun>){target}'s direct reports?", PERSON, PERSON),
    row(
        "direct_report_of",
        "reports_to",
        "{source} (?P<noun>)(?:a |the )?direct reports? (?:of|to) {target}",
        PERSON,
        PERSON,
    ),
    row("has_reports", "reports_to", "{target}'s direct reports? (?:is|are|include) {source}", PERSON, PERSON),
    row(
        "on_team_of",
        "reports_to",
        "{source} (?P<noun>)(?:on|in) {target}'s team",
        PERSON,
        PERSON,
        GUESSED,
        cues="team",
    ),
    row("has_team", "reports_to", "{target}'s team (?:is|includes|consists of) {source}", PERSON, PERSON, GUESSED),
    row(
        "joined_team_of",
        "reports_to",
        "{source} (?:joined|joins|joining|(?:moved|moves|moving|switched|transferred) to|(?P<plain>join|move to)) "
        "{target}'s team",
        PERSON,
        PERSON,
        AMBIGUOUS,
        Phase.OPENS,
    ),
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
    row(
        "works_with",
        "works_with",
        "{source} (?:works|worked|working|collaborates|collaborated|collaborating|partners|partnered|paired|pairs"
        "|pairing|teamed up|(?P<plain>work|collaborate|partner|pair)) (?:[a-z]+ly |very |together |often )*(?:with"
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
        "colleague_of",
        "works_with",
        f"{{source}} (?P<noun>)(?:an? |the )?{MATE} of {{target}}",
        PERSON,
        PERSON,
        LIKELY,
    ),
    row("is_colleague", "works_with", f"{{source}} (?P<noun>){{target}}'s {MATE}", PERSON, PERSON, LIKELY),
    row(
        "works_at",
        "works_at",
        "{source} (?:works|working|teaches|teaching|(?P<plain>work|teach)) "
        f"(?:(?:full|part)[ -]time |remotely |again |as (?:an? |the )?{JOB} )?(?:at|for) {{target}}(?!'s team)",
        PERSON,
        EMPLOYER,
    ),
    row("employed_by", "works_at", "{source} employed (?:by|at) {target}", PERSON, EMPLOYER),
    row(
        "has_job_at",
        "works_at",
        f"{{source}} (?:works as |serves as |became |working as )?(?P<noun>)(?:an? |the )?"
        f"(?:{JOB}(?: of (?:{NAME}|[a-z]+))? (?:at|for|with)|{OFFICER} of) {{target}}(?! at {NAME})",
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
        "{source} (?:moved|moves|moving) (?:over )?to {target}",
        PERSON,
        ("organisation",),
        LIKELY,
        Phase.OPENS,
    ),
    row(
        "joined",
        "works_at",
        "{source} (?:joined|rejoined|joins|joining|(?P<plain>join)) {target}(?!'s team| team)",
        PERSON,
        COMPANY,
        0.75,
        Phase.OPENS,
    ),
    row(
        "left",
        "works_at",
        "{source} (?:left|quit|leaves|leaving|(?P<plain>leave)|(?:resigned|retired|departed|gone) from"
        "|(?:left|quit|leaves) (?:his|her|their|my|the) job (?:at|with)|(?:got )?(?:fired|laid off|let go) (?:from|by)"
        f"|stopped working (?:at|for)) {{target}}(?!'s team| team| for {NAME})",
        PERSON,
        COMPANY,
        0.75,
        Phase.CLOSES,
    ),
)

LIVING: Final = (
    row(
        "lives_in",
        "lives_in",
        "{source} (?:lives|living|resides|residing|based|located|(?P<plain>live|reside)) (?:together |alone "
        "|happily |now )?(?:in|near) {target}",
        ("person?", "organisation", "team"),
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
        "settled_in",
        "lives_in",
        "{source} (?:settled|settles) (?:down )?in {target}",
        PERSON,
        PLACE,
        AMBIGUOUS,
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
