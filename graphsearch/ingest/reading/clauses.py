"""Clauses without a parser: verbs and nouns of the table of frames, with the names and pronouns that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from graphsearch.ingest.frames.table import words
from graphsearch.ingest.reading.phrases import (
    ADVERB,
    ARTICLE,
    AUXILIARY,
    BE,
    BREAK,
    COMMA,
    HAVE,
    HEARSAY,
    HELPER,
    JOINER,
    MODAL,
    NAME,
    NEGATION,
    NOUN,
    OPEN,
    POSSESSIVE,
    PREPOSITION,
    PRONOUN,
    VERB,
    Phrases,
    Ref,
    Refs,
    Slots,
    has_any,
)

if TYPE_CHECKING:
    from graphsearch.names.spans import Mention

_PAST: Final = frozenset({"was", "were"})
_PASSIVES: Final = frozenset({"past", "participle"})
OVER: Final = frozenset({"longer", "stop", "stops", "stopped", "stopping"})
"""Words before a verb that say that what it states is over."""
_LONGEST_SCOPE: Final = 40
_OF_ORIGIN: Final = ("ian", "ean", "ish", "ese")
_LONGEST_NOUN: Final = 3
_LONGEST_LEAD: Final = 5
_LONGEST_GROUP: Final = 6
_FAR: Final = 6
_DROPPED: Final = 0.9
"""How sure a subject is that a speaker left out."""


class Clause(NamedTuple):
    """A verb or noun of the table with its arguments, by preposition; those of a noun are "holder" and "other".

    It stands at unit ``place`` and reaches to ``reach``. ``acted``: whom a passive or "move X to" is about.
    """

    word: str
    subject: Refs
    slots: Slots
    tense: str
    place: int
    reach: int
    noun: bool = False
    negated: bool = False
    hearsay: bool = False
    acted: Refs = ()
    surface: Refs = ()
    """The grammatical subject, that of verbs after "and" as well."""
    link: str = ""
    """The preposition between a noun and its other end."""
    turns: Literal["", "opens", "closes"] = ""
    """Whether what a noun states begins or ends: "became chair", "stepped down as chair"."""


class Clauses(Phrases):
    """The clauses of one sentence."""

    def read(self) -> list[Clause]:
        """All clauses that state something, in order."""
        found: list[Clause] = []
        inside = -1
        for place, bits in enumerate(self.bits):
            if place <= inside or not bits & (VERB | NOUN | PREPOSITION | BE):
                continue
            if bits & VERB and (clause := self._verb(place, found)):
                found.append(clause)
                if clause.slots and clause.tense in ("present", "past"):
                    continue
            if bits & NOUN and (noun := self.longest_noun(place)):
                inside = place + noun.count(" ")
                found += self._noun(place, inside + 1, noun)
            elif bits & BE:
                found += self._copula(place)
            elif bits & PREPOSITION:
                found += self._beside(place)
        if self.lows.count('"') < 2 and "“" not in self.lows:  # noqa: PLR2004
            return found
        inside_quotes = [False]
        for low in self.lows:
            inside_quotes.append(inside_quotes[-1] != (low in ('"', "“", "”")))
        return [each for each in found if not inside_quotes[each.place]]

    def longest_noun(self, place: int) -> str:
        """The longest noun of the table that begins at a place, or ""."""
        if not self.bits[place] & NOUN:
            return ""
        for size in range(min(_LONGEST_NOUN, len(self.lows) - place), 0, -1):
            noun = " ".join(self.lows[place : place + size])
            if noun in self.forms.nouns:
                return noun
        return ""

    # -- what is not stated ---------------------------------------------------------------------------------------

    def scope(self, left: int, *, past: bool = False) -> tuple[bool, bool]:
        """Whether a clause that begins after ``left`` supposes or wishes, and whether it is hearsay."""
        hearsay = False
        for place in range(left, max(-1, left - _LONGEST_SCOPE), -1):
            low, bits = self.lows[place], self.bits[place]
            if bits & (BREAK | COMMA):
                break
            likened = low in words("likened") and left - place < _FAR and self.low(place + 1) != "of"
            if bits & OPEN or likened or (low in words("whenever") and not past):
                return True, hearsay
            hearsay = hearsay or bool(bits & HEARSAY) or (low in words("saying") and place > 0)
        return self.lows[0] in ("if", "unless"), hearsay

    # -- verbs ----------------------------------------------------------------------------------------------------

    def _verb(self, place: int, before: Sequence[Clause]) -> Clause | None:
        if (self.has(place - 1, ARTICLE) and not self.has(place - 1, ADVERB)) or self.low(place + 1) == "'s":
            return None  # "all", "both" and "each" are adverbs, too
        group, left = self._group(place)
        verb = self.forms.verbs[self.lows[place]][0][0]
        forms = {form for base, form in self.forms.verbs[self.lows[place]] if base == verb}
        tense = self._tense(forms, group)
        helped = not group.isdisjoint(words("being") | words("helping"))
        bare = tense == "progressive" and not helped
        participle = bare and (self.has(left, NAME) or self._is_dangling(left, place))
        if not tense or participle or group & words("open"):  # "written in Python using Tk": who uses it?
            return None
        subject, tense, sure = self._acting(left, verb, forms, tense, before)
        if self.low(place + 1) == "by" and "passive" not in tense and forms & _PASSIVES and not group & words("having"):
            tense = "future passive" if tense == "future" else "past passive"  # "a novel written by"
            subject = subject if group & words("being") else None
        passive = tense.endswith("passive")
        surface = subject or (self.described(left) if passive else ()) or ()
        opened, hearsay = self.scope(left, past=tense.startswith(("past", "perfect")))
        if opened or tense == "bare" or (not surface and not passive):
            return None
        word, after = self._longest(verb, place + 1)
        slots, reach = self.slots(after)
        if word.endswith("together") and len(surface) > 1:
            slots.setdefault("with", surface[1:])  # "Ana and Bo work together"
        if word == "replace" and "with" in slots and "obj" in slots and not passive:
            slots["from"] = slots.pop("obj")
        acting = surface if sure == 1.0 else tuple(ref._replace(sure=sure) for ref in surface)
        acted = slots.get("obj", ()) if verb in words("placing") else ()
        if passive and slots.get("obj") and group & words("being") == {"'s"}:
            passive, tense = False, "perfect"  # "she's chaired the board since May"
        if passive:
            slots = slots | ({"obj": surface} if surface else {})
            acting, acted = slots.pop("by", ()), surface
        denied = self.low(left - 1) in ("nor", "neither") or self.low(place + 1) == "neither"
        negated = denied or not group.isdisjoint(words("negating") | OVER)
        tense = tense.removesuffix(" passive")
        return Clause(word, acting, slots, tense, place, reach, False, negated, hearsay, acted, surface)

    def _is_dangling(self, left: int, place: int) -> bool:
        """Whether a participle has its subject elsewhere: ", leading X to change", "Working with X, they passed"."""
        if left >= 0:
            return self.low(left) == "," and left > _FAR
        return any(
            self.bits[at] & COMMA and self.has(at + 1, NAME | PRONOUN | ARTICLE)
            for at in range(place, len(self.units) - 1)
        )

    def _acting(
        self, left: int, verb: str, forms: AbstractSet[str], tense: str, before: Sequence[Clause]
    ) -> tuple[Refs | None, str, float]:
        """The subject of a verb, its tense, and how sure the subject is; "bare" is the tense of an imperative."""
        subject = self.subject(left)
        sure = 1.0
        if subject is None:
            subject, tense, sure = self._left_out(left, verb, forms, tense, before)
        plural = tense == "bare" and _is_plural(subject)  # "I use", "Harkin Dairy sponsor the fair"
        return subject, "present" if plural else tense, sure

    def _longest(self, verb: str, after: int) -> tuple[str, int]:
        """A verb with the words behind it that belong to it ("take" "charge"), and the place after them."""
        for more in self.forms.longer.get(verb, ()):
            place = after
            for word in more:
                while self.has(place, ARTICLE | ADVERB) and self.low(place) != word:
                    place += 1
                if self.low(place) != word and not (word == "a" and self.has(place - 1, ARTICLE)):
                    break
                place += 1
            else:
                return " ".join((verb, *more)), place
        return verb, after

    def _group(self, place: int) -> tuple[AbstractSet[str], int]:
        """The auxiliaries and adverbs before a verb, and the place before them."""
        left, group = place - 1, set[str]()
        while left >= 0 and place - left < _LONGEST_GROUP + 1:
            low, bits = self.lows[left], self.bits[left]
            if not bits & (AUXILIARY | NEGATION | HELPER | ADVERB | OPEN) or low in ("if", "unless", "whether"):
                break
            if low == "to" and not (self.has(left - 1, OPEN) or self.low(left - 1) in words("catenatives")):
                group.add("infinitive")
            group.add(low)
            left -= 1
        return group, left

    def _tense(self, forms: AbstractSet[str], said: AbstractSet[str]) -> str:
        """The tense of a verb; "" for an infinitive, "bare" where only the subject can tell."""
        be, have = said & words("being"), said & words("having")
        if "infinitive" in said:
            return ""
        if {"used", "to"} <= said:
            return "past"
        if "going" in said or not said.isdisjoint(words("future")):
            return "future"
        if "gerund" in forms:
            return "past" if said & _PAST else "progressive"
        if "participle" in forms and be:
            return "past passive" if said & (_PAST | {"been"}) else "present passive"
        if "participle" in forms and have:
            return "perfect"
        if "past" in forms:  # "quit" among them, which is its own past
            return "past"
        if "third" in forms:
            return "present"
        if said & words("do"):
            return "past" if "did" in said else "present"
        return "past passive" if "participle" in forms and "base" not in forms else "bare"

    def _left_out(
        self, left: int, verb: str, forms: AbstractSet[str], tense: str, before: Sequence[Clause]
    ) -> tuple[Refs | None, str, float]:
        """The subject of a verb that has none of its own, its tense, and how sure the subject is."""
        low, first = self.low(left), max(0, left - _LONGEST_SCOPE)
        if self.has(left, JOINER | COMMA) and before and before[-1].surface:  # "joined in May and leads it"
            return before[-1].surface, before[-1].tense if tense == "bare" else tense, 1.0
        if self.has(left, JOINER) and not before:  # "Tallis steps in and sponsors it"
            head = next((at for at in range(min(left, 3)) if self.has(at, NAME | PRONOUN)), None)
            if head is not None and not any(self.has(at, BREAK | COMMA) for at in range(head, left)):
                return self._listed_before(head), tense, 1.0
        pronouns = {self.lows[at] for at in range(first, left) if self.bits[at] & PRONOUN}
        if low == "," and pronouns == {"i"}:  # "I'm in Rome today, based in Turin"
            return (Ref(None, "i"),), tense, _DROPPED
        names = sum(1 for at in range(first, left) if self.name(at))
        opens = left < 0 or (low in (",", ":", "-", "–", "!", ")") and not pronouns and names <= 1 and left < _FAR)
        says = "past" in forms or tense == "past" or ("gerund" in forms and verb in words("dropping"))
        acts = left < 0 and "gerund" in forms and any(bits & (MODAL | BE) for bits in self.bits[: left + _FAR])
        says = says and not acts  # "working on boats would be great"
        if self.spoken and opens and says and ("base" not in forms or tense == "past"):  # "jo here, joined in May"
            return (Ref(None, "i"),), tense.removesuffix(" passive") if verb != "base" else "present passive", _DROPPED
        return None, tense, 1.0

    # -- nouns ----------------------------------------------------------------------------------------------------

    def _noun(self, place: int, end: int, noun: str) -> Iterator[Clause]:
        """What a noun of the table relates: "X, the head of Y", "X's head is Y", "my boss Y", "Acme CEO Y"."""
        if self.low(end) == "'s" and self.low(end + 1) != "name":  # "my mother's boyfriend"
            return
        start, owner, owns = self._owner(place, end, noun)
        linked, link, after = self._linked(end)
        if owner and owner[0].pronoun == "our" and self.forms.nouns[noun][0].type in words("families"):
            owner = (owner[0]._replace(pronoun="my"),)  # which no firm has
        other = owner if owner and owner[0].pronoun != "our" else linked or owner
        if not other and self.low(start) == "the" and self.low(start - 1) == "," and self.is_end(end):
            other = (Ref(None, "there", _DROPPED),)  # "Jo, the owner, signed"
        holder = self._holder(start, place, after)
        if owner and linked and not holder and self.low(after) in words("linking_verbs"):  # "my last day at Acme is"
            holder, other = owner, linked
        link = owns if other is owner else link
        near = {*self.lows[max(0, start - 3) : end]}
        left = start - 1
        while self.low(left) in words("called"):
            left -= 1
        opened, hearsay = self.scope(left)
        if not holder or not other or other[0].pronoun == "your" or opened or near & words("open"):
            return
        turns = self._turning(left, start)
        tense = "past" if turns or near & words("formerly") else "present"
        negated = not near.isdisjoint(words("negating") | OVER)
        slots = {"holder": holder, "other": other}
        yield Clause(noun, (), slots, tense, place, max(end, after), True, negated, hearsay, (), holder, link, turns)

    def _turning(self, left: int, start: int) -> Literal["", "opens", "closes"]:
        """Whether the verb before a noun says that somebody becomes it, or is it no more."""
        if self._quits(left) is not None:
            return "closes"
        return "opens" if has_any(self.lows[left + 1 : start], "turning") else ""

    def _quits(self, left: int) -> int | None:
        """The place before a verb that ends at a place and says that somebody gives up what follows "as"."""
        if self.low(left + 1) != "as":
            return None
        if self.low(left) == "down" and self.low(left - 1) in ("stepped", "stood"):
            return left - 2
        return left - 1 if self.low(left) in words("quitting") else None

    def _owner(self, place: int, end: int, noun: str) -> tuple[int, Refs, str]:
        """Where the phrase of a noun begins, whose noun it is ("my boss", "X's boss", "Acme CEO"), and what says so."""
        start = place
        while start and not self.bits[start - 1] & (NAME | POSSESSIVE) and self._leads(start - 1, place):
            start -= 1
        if self.has(start - 1, POSSESSIVE):
            return start - 1, (self.ref(start - 1),), ""
        if self.low(start - 1) == "'s" and self.has(start - 2, NAME):
            return start - 2, (self.ref(start - 2),), "'s"
        before = self.name(start - 1)
        plural = noun.endswith("s") and noun[:-1] in self.forms.nouns
        if not before or start < place or plural or self.has(start - 2, PREPOSITION):
            return start, (), ""
        if before.kind == "person" and (before.hard or not self.has(end, NAME)):
            return start, (), ""
        if before.name.endswith(_OF_ORIGIN) and not before.hard:  # "the Calabrian doctor"
            return start, (), ""
        return start - 1, (self.ref(start - 1),), "·"  # "Socceroos coach Bo Lind"

    def _linked(self, end: int) -> tuple[Refs, str, int]:
        """What a preposition behind a noun links to it, the preposition, and the place behind."""
        if self.low(end) == "there":
            return (Ref(None, "there"),), "at", end + 1
        if self.low(end) in words("linking"):
            slots, reach = self.slots(end)
            link, linked = next(((slot, refs) for slot, refs in slots.items() if slot in words("linking")), ("", ()))
            if linked:
                return linked, link, reach if len(slots) == 1 else self._place_of(linked[-1], end)
        return (), "", end

    def _place_of(self, ref: Ref, start: int) -> int:
        places = range(start, len(self.units))
        return next((at + 1 for at in places if ref.mention and self.name(at) is ref.mention), start)

    def _leads(self, place: int, noun: int) -> bool:
        """Whether a word belongs to the phrase of the noun after it."""
        plain = noun - place < _LONGEST_LEAD and not self.bits[place] & (ADVERB | VERB) and self.is_filler(place)
        return bool(self.bits[place] & ARTICLE) or plain

    def _holder(self, start: int, noun: int, after: int) -> Refs:
        """Whom a noun phrase [start, after) describes: the subject of "is", what it stands beside, or what follows."""
        left, subject = self._predicated(start)
        if subject:
            return () if self.has(after, NAME) else subject  # "I'm Becky's sister Bella"
        low = self.low(left)
        if self.has(noun + 1, JOINER) and self.has(noun + 2, NAME | PRONOUN):
            return ()  # "we trust Ana, my wife and I"
        if low in (",", "(") and _is_person(self.name(left - 1)):
            one = self.units[0].mention
            opens = left == 1 or self.low(left - 2) == ","
            called = self.spoken and opens and one and " " not in one.name and self.low(start) == "the"
            called = called or (self.spoken and opens and self.low(start) == "my" and self.low(after) != ",")
            return () if called else (self.ref(left - 1),)  # "Elaine, the director of the choir said so": to Elaine
        if self.has(after, NAME):
            return (self.ref(after),)  # "my manager Jo Berg"
        if self.low(after) in ("is", "'s", ":", "(", "was", "are", "were") and self.has(after + 1, NAME):
            return self._listed_after(after + 1)[0]
        if self.low(after) == "," and self.has(after + 1, NAME) and self.is_end(after + 2):
            return (self.ref(after + 1),)
        return (self.ref(start - 1),) if start == noun and _is_person(self.name(start - 1)) else ()

    def _predicated(self, start: int) -> tuple[int, Refs]:
        """The place before a noun phrase, and the subject of the verb there: "is", "became", "stepped down as"."""
        left = start - 1
        while left >= 0 and (self.bits[left] & ADVERB or self.lows[left] in words("called")):
            left -= 1
        been = self.has(left, HAVE) and "been" in self.lows[left:start]
        if been or self.has(left, BE):
            return left, self.subject(left - 1) or ()
        before = left if has_any(self.lows[left + 1 : start], "turning") else self._quits(left)
        return left, () if before is None else self.subject(before) or ()

    # -- "is at" --------------------------------------------------------------------------------------------------

    def _copula(self, place: int) -> Iterator[Clause]:
        """What follows "is": "Ana is on the Billing team", "is in charge of", "is a village in Y"."""
        if place and self.bits[place - 1] & BE:
            return
        after = place + 1
        while self.has(after, ADVERB | NEGATION | BE | HELPER) and self.low(after) != "to":
            after += 1
        group, left = self._group(place)
        said = group | {*self.lows[place:after]}
        if said & words("open") or "going" in said or "infinitive" in said:
            return
        subject = self.subject(left)
        word, start = self._longest("be", after)
        if word == "be" and self.has(start, ARTICLE) and not self.spoken:  # "is a village in Y"
            at = start + 1
            while at < len(self.units) and at - start < _LONGEST_GROUP and self.is_filler(at):
                at += 1
            word, start = ("be something", at) if self.low(at) == "in" else (word, start)
        if not subject or (word == "be" and not self.has(start, PREPOSITION)):
            return
        slots, reach = self.slots(start)
        slots = {slot: refs for slot, refs in slots.items() if slot == self.low(start)}
        if self.lows[start + 2 : start + 4] == ["'s", "team"] and self.has(start + 1, NAME):
            slots = {"under": (self.ref(start + 1),)}  # "is on Ana's team"
        opened, hearsay = self.scope(left)
        valued = any(each.target == "v" for each in self.forms.frames.get((word, self.low(start)), ()))
        if opened or not (slots or valued):
            return
        word = "been" if word == "be" and "been" in said and ("been", self.low(start)) in self.forms.frames else word
        tense = "future" if said & words("future") else "past" if said & _PAST or "used" in said else "present"
        tense = "perfect" if "been" in said and tense == "present" else tense
        negated = not said.isdisjoint(words("negating")) or "longer" in said
        reach = reach if slots else start
        yield Clause(word, subject, slots, tense, place, reach, False, negated, hearsay, (), subject)

    def _beside(self, place: int) -> Iterator[Clause]:
        """A name that a preposition joins to another: "Jo Berg at Acme", "a novel by Y"."""
        low = self.lows[place]
        if low == "by" and self.low(place - 1) in words("works") and (thing := self.described(place - 1)):
            slots, reach = self.slots(place)
            if slots.get("by"):
                yield Clause("write", slots["by"], {"obj": thing}, "past", place, reach, surface=thing)
            return
        name = self.name(place - 1)
        if low not in self.forms.beside or not name or name.kind != "person":
            return
        apart = self.spoken or place == 1 or self.low(place - 2) in (",", "said", "says", "(", "by", "and", '"')
        opened, hearsay = self.scope(place - 1)
        if not apart or opened:
            return
        slots, reach = self.slots(place)
        if refs := slots.get(low):
            subject = (self.ref(place - 1),)
            yield Clause("·", subject, {low: refs}, "present", place, reach, False, False, hearsay, (), subject)


def _is_person(mention: Mention | None) -> bool:
    return mention is not None and mention.kind in ("person", "")


def _is_plural(subject: Refs | None) -> bool:
    """Whether a subject takes a verb without an ending; a firm may: "Harkin Dairy sponsor the fair"."""
    firms = ("organisation", "group", "")
    fitting = (
        each.pronoun in ("i", "we", "they", "you") or (each.mention and each.mention.kind in firms)
        for each in subject or ()
    )
    return len(subject or ()) > 1 or any(fitting)
