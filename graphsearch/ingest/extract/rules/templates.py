"""The vocabulary of the pattern tables: confidences, types, nouns, and templates generated from verbs and nouns.

A verb makes three templates: "leads", "led", "led by". A noun makes three: "is the head of", and "'s head" from either
end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.masked_sentence import DATE, NAME
from graphsearch.ingest.extract.rules.patterns import Phase, RelationPattern
from graphsearch.text.word_lists import word_set

CLEAR: Final = 0.88
LIKELY: Final = 0.82
AMBIGUOUS: Final = 0.68

PERSON: Final = ("person?",)
GIVEN: Final = ("person", "given_name?")
TEAM: Final = ("team",)
COMPANY: Final = ("organisation?", "tool", "facility")
EMPLOYER: Final = (*COMPANY, "team")
PLACE: Final = ("place?",)
GROUP: Final = ("", "team", "organisation", "project", "event", "facility", "tool")
SOMEONE: Final = ("", "person", "organisation", "team", "facility")
THING: Final = ("", "project", "tool", "organisation", "concept", "file", "function", "class", "module", "url", "place")
TOOL: Final = ("", "tool", "project", "concept", "organisation", "file", "function", "class", "module", "url")
MADE_THING: Final = (*THING, "event", "team", "facility")
UNDERTAKING: Final = ("", "project", "tool", "event", "concept", "file", "function", "class", "module", "url")
SPONSORED: Final = (*MADE_THING, "person")
SYSTEM: Final = ("", "project", "tool", "organisation", "team", "concept", "file", "function", "class", "module")
USER: Final = (*SYSTEM, "person", "facility")

ROLES: Final = (
    "(?:(?:the|an?|our|its|new|former|senior|junior|staff|principal|chief|lead|head|software|data|product"
    "|research|general|deputy|associate|assistant|vice|executive|technical|operations|marketing|sales|design"
    "|engineering|managing)[ -]){0,6}"
)
JOB: Final = (
    f"{ROLES}(?:engineer|developer|designer|manager|analyst|scientist|researcher|nurse|teacher|doctor|professor"
    "|lecturer|director|officer|president|accountant|lawyer|architect|consultant|editor|writer|intern|employee"
    "|cto|cfo|coo|vp|chef|librarian|surgeon|technician|administrator|assistant|producer|programmer|curator"
    "|student|fellow|postdoc|apprentice|trainee|actuary|anaesthetist|archaeologist|archivist|attorney|auditor|baker"
    "|banker|barista|barrister|biologist|bookkeeper|broker|buyer|caretaker|carpenter|carer|cashier|chemist|cleaner|clerk"
    "|coach|conductor|copywriter|counsellor|counselor|dentist|driver|economist|electrician|farmer|gardener|geologist"
    "|illustrator|instructor|interpreter|journalist|machinist|mechanic|midwife|musician|operator|paralegal|paramedic"
    "|pharmacist|photographer|physician|physicist|physio|physiotherapist|pilot|planner|plumber|porter|psychologist"
    "|anthropologist|cardiologist|dermatologist|ecologist|meteorologist|neurologist|oncologist|pathologist|sociologist"
    "|urologist|zoologist|radiologist|radiographer|receptionist|recruiter|reporter|secretary|solicitor|statistician"
    "|strategist|supervisor|surveyor|tester|therapist|trainer|translator|tutor|vet|veterinarian|violinist|waiter"
    "|waitress|warden|welder)"
)
OFFICER: Final = f"{ROLES}(?:cto|cfo|coo|vp|officer|employee)"
HEAD: Final = (
    f"{ROLES}(?:ceo|head|leader|lead|captain|director|chair|chairman|chairwoman|chairperson|president|principal"
    "|dean|boss|chief executive(?: officer)?|manager|coach|editor-in-chief|owner|commander|mayor|coordinator"
    "|organiser|organizer|convenor|convener|producer|skipper|foreman|forewoman)"
)
MAKER: Final = (
    "(?:original |main |co-?)?(?:creator|author|inventor|founder|designer|architect|maker|developer|composer)s?"
)
BOSS: Final = "(?:(?:line|direct|immediate) )?(?:managers?|boss|bosses|supervisors?|superior|team lead(?:er)?|gaffer)"
REPORT: Final = "direct reports?"
EMPLOYING: Final = "employer"
HOME: Final = "(?:home|hometown|home town)"
STANDING: Final = "(?:(?:core|founding|active|senior|board|honorary|proud|full|paid-up|newest|latest) ){0,3}"
BACKER: Final = "(?:(?:main|lead|principal|headline) )?(?:sponsors?|backers?|funders?|patrons?|benefactors?|donors?)"
MATE: Final = "(?:(?:old|close|former) ){0,3}(?:colleague|coworker|co-worker|teammate|collaborator)s?"

_NO_CUES: Final = word_set(
    "is are was were am be been being to by with for at the of in on from an and or as his her their its now up "
    "off out down away back who not there my has have had over any again one ly new old our team co"
)
_WORD: Final = re.compile("[a-z]{2,}")
_SLOT: Final = re.compile(r"\{\w+\}|\?P<\w+>|\[[^][]*\]|\\.")


def row(
    name: str,
    type: str,
    template: str,
    source: tuple[str, ...],
    target: tuple[str, ...],
    confidence: float = CLEAR,
    phase: Phase = Phase.HOLDS,
    *,
    cues: str = "",
    called: str = "",
    confirms: bool = True,
) -> RelationPattern:
    """A pattern whose cues are the uncommon words of its template, or of ``called``, and ``cues``."""
    return RelationPattern(
        name=name,
        type=type,
        template=template,
        source_types=source,
        target_types=target,
        cues=(word_set(" ".join(_WORD.findall(_SLOT.sub(" ", called or template)))) - _NO_CUES) | word_set(cues),
        confidence=confidence,
        phase=phase,
        confirms=confirms,
        trusted=True,
    )


_SIBILANT: Final = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y: Final = re.compile(r"(?<=[^aeiou])y$")
_ADVERB: Final = "(?:[a-z]+ly )?"
# "developed at TU Delft in 2020 mainly by"
AMID: Final = f"(?:(?:jointly|mostly|mainly|entirely|largely|together|in house) |(?:at|in) {NAME} |in {DATE} )*"
_FRESH: Final = "(?:new |current |present |own |long-time )*"
# "was created Baron": whoever is the object of a verb does nothing.
_ACTIVE: Final = r"(?<!\bwas )(?<!\bwere )(?<!\bbeen )(?<!\bbeing )(?<!\bis )(?<!\bare )(?<!\bam )"
# "Barcelona's principal playmaker" is no principal.
_NO_NOUN: Final = (
    "(?= *(?:[.,;:!?)(]|$)| (?:and|but|or|so|who|since|in|on|at|for|from|until|till|now|again|when|while|as|to|with"
    f"|{DATE}))"
)
_ARTICLE: Final = "(?:an? |the |one of the |its |our |their |her |his |my )?"


@attrs.frozen
class Verb:
    """The forms of a verb; ``tail`` follows each of them: a particle or a preposition."""

    base: str
    past: str
    participle: str
    gerund: str
    tail: str = ""

    @property
    def third(self) -> str:
        """The third person singular: leads, pushes, relies, does."""
        if _SIBILANT.search(self.base) or self.base in ("go", "do"):
            return f"{self.base}es"
        return _CONSONANT_Y.sub("ie", self.base) + "s"

    def form(self, name: str) -> str:
        """One of its forms, with its tail."""
        return f"{getattr(self, name)}{self.tail}"


def verb(entry: str) -> Verb:
    """Parse a verb: "chair", "lead led", "write wrote written", "rely + on", "plan planned".

    Omitted forms are regular; a consonant doubled in the past is doubled in the gerund too.
    """
    written, _, tail = entry.partition(" + ")
    base, *irregular = written.split()
    stem = base.removesuffix("e") if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) else base
    regular = f"{stem}ed" if stem != base else _CONSONANT_Y.sub("i", base) + "ed"
    past = irregular[0] if irregular else regular
    doubled = past.startswith(base + base[-1]) and past.endswith("ed") and past != regular
    gerund = f"{base}{base[-1]}ing" if doubled else f"{stem}ing"
    gerund = irregular[2] if len(irregular) > 2 else gerund  # noqa: PLR2004 - base, past, participle, gerund
    return Verb(base, past, irregular[1] if len(irregular) > 1 else past, gerund, f" {tail}" if tail else "")


def verbs(entries: str) -> tuple[Verb, ...]:
    """Parse verbs separated by commas."""
    return tuple(verb(entry.strip()) for entry in entries.split(","))


def verbal(
    name: str,
    type: str,
    entries: str,
    source: Sequence[str],
    target: Sequence[str],
    *,
    confidence: float = CLEAR,
    lasting: bool = False,
    passive: bool = True,
    inverse: bool = False,
    past: float = AMBIGUOUS,
    over: Sequence[str] = (),
    before: str = "",
    guard: str = "",
) -> tuple[RelationPattern, ...]:
    """The patterns of verbs: "S leads T", "S led T" and, if ``passive``, "T is led by S".

    ``lasting``: the relation holds ever after, as with "built"; otherwise the past tense means that it is over.
    ``inverse``: the subject of the verb is the target of the relation, as in "Ada manages Bob". ``past`` is the
    confidence of the past tense, ``over`` the types of its object if they are fewer; ``before`` is a regular expression
    before the object, ``guard`` one after it.
    """
    listed = verbs(entries)
    subject, thing = ("{target}", "{source}") if inverse else ("{source}", "{target}")
    present = f"(?:{_any(listed, 'third', 'gerund')}|(?P<plain>{_any(listed, 'base')}))"
    once = _any(listed, "past", "participle")
    ends = tuple(source), tuple(target)
    earlier = ends if not over else (tuple(over), ends[1]) if inverse else (ends[0], tuple(over))
    phase = Phase.DONE if lasting else Phase.HOLDS
    rows = [
        row(
            name, type, f"{subject} {present} {_ADVERB}{before}{thing}{guard}", *ends, confidence, phase, called=present
        ),
        row(
            f"{name}_past",
            type,
            f"{subject} {_ACTIVE}{once} {_ADVERB}{before}{thing}{guard}",
            *earlier,
            confidence if lasting else past,
            Phase.DONE if lasting else Phase.ENDED,
            called=once,
        ),
    ]
    if over:  # "has led Apollo since 2020" holds
        lead = f"{subject} {once} {_ADVERB}{before}{thing}(?= (?:ever )?since )"
        rows.insert(0, row(f"{name}_since", type, lead, *ends, confidence, called=once))
    if passive:
        done = _any(listed, "participle")
        by = f"{thing} {_ADVERB}{done} {AMID}by {subject}(?!'s)"
        rows.append(row(f"{name}_by", type, by, *ends, confidence, phase, called=done))
    return tuple(rows)


def nominal(
    name: str,
    type: str,
    noun: str,
    source: Sequence[str],
    target: Sequence[str],
    *,
    holder: str,
    confidence: float = LIKELY,
    phase: Phase = Phase.HOLDS,
    of: str = "of|for",
) -> tuple[RelationPattern, ...]:
    """The patterns of a noun: "Ada is the head of Apollo", "Ada is Apollo's head", "Apollo's head is Ada".

    ``noun`` is a regular expression; ``holder`` ("source" or "target") is the end that it describes. The other end
    follows one of the prepositions ``of``.
    """
    who, whose = ("{source}", "{target}") if holder == "source" else ("{target}", "{source}")
    made = (
        "(?:serves as |serving as |acting as |acts as |named |appointed |elected |promoted to(?: be)? |voted |made "
        "|became |becomes )?"
    )
    is_called = "(?: is| are| was| were| will be|:| -|,)?(?: now| called| currently| still)?"
    templates = {
        "of": f"{who} {made}(?P<noun>){_ARTICLE}{_FRESH}{noun} (?:{of}) {whose}(?!'s)",
        "genitive": f"{who} {made}(?P<noun>){whose}'s {_FRESH}{noun}{_NO_NOUN}",
        "is": f"{whose}'s {_FRESH}{noun}{is_called} {who}",
    }
    return tuple(
        row(
            f"{name}_{form}",
            type,
            template,
            tuple(source),
            tuple(target),
            confidence,
            phase,
            called=noun.replace(ROLES, ""),
        )
        for form, template in templates.items()
    )


def _any(listed: Iterable[Verb], *forms: str) -> str:
    return f"(?:{'|'.join(dict.fromkeys(each.form(form) for form in forms for each in listed))})"
