"""The words of a sentence as units, and how its phrases are read: who acts, what a noun describes, what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from graphsearch.ingest.frames.table import Forms, verb_forms, words

if TYPE_CHECKING:
    from graphsearch.names.spans import Mention, Read

ARTICLE, POSSESSIVE, PRONOUN, BE, HAVE, DO, FUTURE, MODAL = (1 << place for place in range(8))
NEGATION, PREPOSITION, JOINER, STOP, OPEN, ADVERB, HELPER, VERB = (1 << place for place in range(8, 16))
NAME, BREAK, COMMA, NOUN, HEARSAY, VALUED = (1 << place for place in range(16, 22))
AUXILIARY: Final = BE | HAVE | DO | FUTURE | MODAL
_CLOSED: Final = PREPOSITION | JOINER | STOP | PRONOUN | AUXILIARY | NEGATION
_LISTS: Final = (
    *("articles", "possessives", "pronouns", "being", "having", "do", "future", "modals"),
    *("negating", "prepositional", "joiners", "stops", "open", "adverbs", "helping"),
)
"""The closed lists of the first bits, in order."""
_SUBJECTIVE: Final = frozenset({"i", "he", "she", "we", "they"})
_OBJECTIVE: Final = frozenset({"me", "him", "her", "us", "them"})
_NO_ADVERBS: Final = frozenset({"apply", "reply", "supply", "rely", "family", "only", "early", "july", "fly", "daily"})
_JOINING: Final = frozenset({"-", "/", "%", "$", "€", "£", "'", "’"})
_MAX_FILLER: Final = 3
_MAX_PHRASE: Final = 14
_LONGEST: Final = 40
_SHORTEST: Final = 3


class Unit(NamedTuple):
    """A word, or a name as one unit; ``bits`` are the closed lists that it belongs to."""

    low: str
    bits: int
    start: int
    end: int
    mention: Mention | None = None


class Ref(NamedTuple):
    """What fills a slot: a name, or a pronoun to be resolved; ``sure`` is how well it is its filler."""

    mention: Mention | None
    pronoun: str = ""
    sure: float = 1.0


Refs = tuple[Ref, ...]
Slots = dict[str, Refs]


@cache
def word_bits(forms: Forms) -> Mapping[str, int]:
    """The closed lists of each word, and whether it is a form of a verb or begins a noun of the table."""
    found = dict.fromkeys(",", COMMA) | dict.fromkeys('.;:()?!–—"“”', BREAK)
    for name, bit in (*((name, 1 << place) for place, name in enumerate(_LISTS)), ("hearsay", HEARSAY)):
        for word in words(name):
            found[word] = found.get(word, 0) | bit
    for form in forms.verbs:
        found[form] = found.get(form, 0) | VERB
    for noun, frames in forms.nouns.items():
        first = noun.split(" ")[0]
        found[first] = found.get(first, 0) | NOUN | (VALUED if frames[0].target == "v" else 0)
    for (verb, _), some in forms.frames.items():
        if any(each.target == "v" for each in some):
            words_ = verb.split(" ")[1:] or [form for form, _ in verb_forms(verb)]
            found |= {word: found.get(word, 0) | VALUED for word in words_}
    return found


def read_units(read: Read, first: int, stop: int, forms: Forms) -> list[Unit]:
    """The units of a sentence; "im" is two at one place, and "from then on" none."""
    inside = {each.first: each for each in read.mentions if first <= each.first and each.end <= stop}
    parts_of, words, lows = _cutter(forms), read.words, read.lows
    found, place = [], first
    while place < stop:
        mention = inside.get(place)
        _, start, end = words[place]
        if mention is not None:
            found.append(Unit("·", NAME, start, words[mention.end - 1].end, mention))
            place = mention.end
        elif lows[place] == "from" and place + 2 < stop and lows[place + 2] == "on" and place + 1 not in inside:
            place += 3
        else:
            for part, known in parts_of(lows[place]):
                found.append(Unit(part, known, start, end))
            place += 1
    return found


@cache
def _cutter(forms: Forms) -> Callable[[str], Sequence[tuple[str, int]]]:
    """What cuts a word into its parts, with the bits of each; words come again and again."""
    bits, expanded = word_bits(forms), _contractions()

    def known(part: str) -> int:
        adverb = part.endswith("ly") and part not in _NO_ADVERBS
        return bits.get(part) or (ADVERB if adverb else BREAK if not part[-1].isalnum() and part not in _JOINING else 0)

    @lru_cache(1 << 14)
    def parts(low: str) -> Sequence[tuple[str, int]]:
        plain = low.replace("’", "'")
        return tuple((part, known(part)) for part in expanded.get(plain, (plain,)))

    return parts


@cache
def _contractions() -> Mapping[str, tuple[str, ...]]:
    pairs = (each.split("=") for each in words("contractions"))
    return {short: tuple(parts.split("+")) for short, parts in pairs}


class Phrases:
    """Reads the phrases of one sentence. ``spoken``: its text has a speaker, who is "I"."""

    def __init__(self, units: list[Unit], forms: Forms, *, spoken: bool) -> None:
        self.units = units
        self.lows = [unit.low for unit in units]
        self.bits = [unit.bits for unit in units]
        self.forms = forms
        self.spoken = spoken
        for place in (at for at, low in enumerate(self.lows) if low == "her"):
            if self.has(place + 1, PREPOSITION) or self.is_end(place + 1 + bool(self.has(place + 1, ADVERB))):
                self.bits[place] = PRONOUN  # "reports to her now"
        for place in (at for at, low in enumerate(self.lows) if low == "may"):
            if self.low(place - 1) in words("monthly") or self.low(place - 1)[:1].isdigit():
                self.bits[place] = 0

    def low(self, place: int) -> str:
        """The word at a place; "·" for a name, "" outside of the sentence."""
        return self.lows[place] if 0 <= place < len(self.lows) else ""

    def has(self, place: int, bits: int) -> int:
        """Whether the word at a place is of one of these lists."""
        return self.bits[place] & bits if 0 <= place < len(self.bits) else 0

    def name(self, place: int) -> Mention | None:
        """The name at a place."""
        return self.units[place].mention if 0 <= place < len(self.units) else None

    def ref(self, place: int) -> Ref:
        """The name or pronoun at a place."""
        mention, low = self.name(place), self.low(place)
        return Ref(mention) if mention else Ref(None, low)

    def is_filler(self, place: int) -> bool:
        """Whether a word may stand before a name in its phrase: an article, an adjective, a common noun."""
        bits, low = self.bits[place], self.lows[place]
        return bool(bits & ARTICLE) or (low.replace("-", "").isalpha() and not bits & _CLOSED)

    def is_end(self, place: int) -> bool:
        """Whether a clause ends before a place."""
        return place >= len(self.units) or bool(self.bits[place] & (BREAK | COMMA | JOINER | STOP))

    # -- to the left ----------------------------------------------------------------------------------------------

    def subject(self, left: int) -> Refs | None:
        """The subject that ends at or before a place. () is one that is no name, None no subject at all."""
        while left >= 0:
            low, bits = self.lows[left], self.bits[left]
            if low in _OBJECTIVE:
                return ()
            if bits & (NAME | PRONOUN):
                listed = self._listed_before(left)
                first = self._phrase_start(left - 2 * (len(listed) - 1))
                beside = self.has(first - 1, PREPOSITION) and self.low(first - 1) != "like"
                if not (bits & NAME and beside and self.low(first - 2) not in (",", ":")):
                    return listed
                left = first - 2  # "the head of Acme said": not Acme
            elif low in words("kind_nouns") and self.has(left - 1, NAME):
                left -= 1  # "the Tidewright service depends"
            elif low in ("who", "which", "that"):
                left -= 1 + (self.low(left - 1) in (",", "("))
                if self.has(left, NAME):
                    return (self.ref(left),)
            elif low in (")", ","):
                left = self._before_aside(left, low)
            elif bits & (JOINER | STOP | BREAK) or not low[0].isalnum():
                return None
            else:
                return self._about(left)
        return None

    def _before_aside(self, left: int, low: str) -> int:
        """The place before an aside that ends at a place: "Bo, the head of Acme, said"; -1 if it is none."""
        opening = "(" if low == ")" else ","
        start = next((at for at in range(left - 1, max(-1, left - _LONGEST), -1) if self.lows[at] == opening), 0)
        return start - 1 if low == ")" or self.name(start - 1) else -1

    def _about(self, left: int) -> Refs:
        """What a document is about, where it is called by its kind: "The album was produced by"."""
        about = not self.spoken and left <= _MAX_FILLER and self.lows[0] in ("the", "this")
        return (Ref(None, "it"),) if about and self.lows[left] in words("works") | words("bodies") else ()

    def described(self, left: int) -> Refs:
        """What a noun phrase that ends at a place describes: "Gomorrah is a novel (written by)", "X, a song (by)"."""
        related = False
        for place in range(left, max(-1, left - _MAX_PHRASE), -1):
            if self.lows[place] in ("is", "was", "are", "were"):
                return self.subject(place - 1) or ()
            related = related or self.lows[place] in ("which", "that", "who")
            if related and self.bits[place] & PREPOSITION:
                return ()  # "is derived from a parser which was written by"
            if self.lows[place] == "," and self.name(place - 1) and self.has(place + 1, ARTICLE):
                return (self.ref(place - 1),)
            if self.bits[place] & (BREAK | COMMA):
                return ()
        return ()

    def _phrase_start(self, place: int) -> int:
        """Where the phrase of a name begins: at its article, if it has one."""
        for before in range(place - 1, max(-1, place - 4), -1):
            if self.bits[before] & NAME or not self.is_filler(before):
                break
            if self.bits[before] & ARTICLE:
                return before
        return place

    def _listed_before(self, place: int) -> Refs:
        """The names of a list that ends at a place: "Ana, Bo and Cy"."""
        refs = [self.ref(place)]
        while self.has(place - 1, JOINER | COMMA) and self.has(place - 2, NAME | PRONOUN):
            governed = self.has(self._phrase_start(place - 2) - 1, PREPOSITION)
            if self.bits[place - 1] & COMMA and (len(refs) == 1 or governed):  # "after the visit to Leeds, Ana and Bo"
                break
            place -= 2
            refs.insert(0, self.ref(place))
        before = self.low(place - 1)
        unknown = before.isalpha() and not self.has(place - 1, ~0) and before not in words("after_names")
        acted = unknown or self.has(place - 1, VERB | PREPOSITION | AUXILIARY)
        return tuple(refs[-1:] if acted else refs)  # "leads Atlas and Cy leads": Cy

    # -- to the right ---------------------------------------------------------------------------------------------

    def slots(self, place: int) -> tuple[Slots, int]:
        """What follows a verb or noun, by preposition, and the place after it; "obj" is what follows at once."""
        slots: Slots = {}
        slot, filler, reach, passed = "obj", 0, place, set[str]()
        stop = min(len(self.units), place + _LONGEST)
        while place < stop and not self._ends_slots(place, slot):
            low, bits = self.lows[place], self.bits[place]
            if self._is_owner(place):
                place += self.low(place + 1) in ("'s", "'")  # "the Turin office", "Ann's bakery"
                filler += 1
            elif bits & (NAME | PRONOUN):
                if slot and slot not in slots:
                    refs, place = self._listed_after(place)
                    slots[slot], reach = refs, place + 1
                slot, filler = "", 0
            elif low == "there" and slot == "obj" and not slots:
                slots["at"] = slots["in"] = (Ref(None, low),)
                slot = ""
            elif low == "of" and slot == "obj" and self.low(place - 1) in words("versions"):
                filler = 0  # "wrote a draft of X"
            elif bits & PREPOSITION:
                slot, filler = "" if low in passed else low, 0
                passed.add(low)
            elif bits & (JOINER | COMMA):
                slot = slot if slot == "obj" and not filler else ""
            else:
                filler += 1
                slot = "" if filler > _MAX_FILLER else slot
            place += 1
        return slots, reach

    def _ends_slots(self, place: int, slot: str) -> bool:
        """Whether a word ends what a verb can govern: another verb, a subject, a clause."""
        low, bits = self.lows[place], self.bits[place]
        if bits & (NAME | PREPOSITION) and low != "to":
            return False
        if bits & PRONOUN:
            return low in _SUBJECTIVE
        if low == "to":
            return self._is_infinitive(place + 1)
        if bits & (STOP | BREAK | (AUXILIARY & ~DO)):
            return True
        gerund = low.endswith("ing") and len(low) > _SHORTEST + 2  # "started reading X", "worked on learning X"
        return (gerund or (bits & VERB > 0 and slot in ("", "obj"))) and not self.has(place - 1, ARTICLE)

    def _is_owner(self, place: int) -> bool:
        """Whether a name or a pronoun only describes the noun after it."""
        owns = self.low(place + 1) in ("'s", "'") and self.has(place, NAME | PRONOUN)
        return bool(owns) or bool(self.bits[place] & NAME and self._modifies(place))

    def _is_infinitive(self, place: int) -> bool:
        """Whether a verb is behind "to": a word that is no part of a place's name."""
        plain = self.low(place).isalpha() and not self.bits[place] and not self.has(place + 1, NAME)
        return plain or bool(self.has(place, VERB))

    def _modifies(self, place: int) -> bool:
        """Whether a name only describes what is after it: "the Turin office", "Labor leader Simon Crean"."""
        noun = self.low(place + 1)
        verb = self.has(place + 1, VERB) and not self.has(place + 1, NOUN)
        apart = verb or self.has(place + 1, _CLOSED | ADVERB | ARTICLE | NAME)
        if apart or not noun.isalpha() or len(noun) < _SHORTEST or noun in words("after_names"):
            return False
        if self.has(place + 1, NOUN) and noun in self.forms.nouns:
            return noun not in words("kind_nouns")  # "Caltech president Bo"
        articled = self.has(place - 1, ARTICLE) and noun not in words("kind_nouns")
        return bool(articled or self.has(place + 2, NAME) or (noun.endswith("s") and noun not in words("kind_nouns")))

    def _may_act(self, place: int) -> bool:
        """Whether a word after a name may be its verb: of the table, or unknown."""
        low = self.low(place)
        unknown = low.isalpha() and not self.has(place, ~0) and low.endswith(("s", "ed"))
        return bool(self.has(place, VERB | AUXILIARY)) or unknown

    def _listed_after(self, place: int) -> tuple[Refs, int]:
        """The names of a list that begins at a place, and the place of the last; "and Bo leads" is no part of it."""
        refs = [self.ref(place)]
        while self.has(place + 1, JOINER | COMMA):
            step = 3 if self.has(place + 2, JOINER | ARTICLE) else 2
            after = place + step + 1
            if not self.name(place + step) or self._may_act(after) or self.low(after) == "'s":
                break
            place += step
            refs.append(self.ref(place))
        return tuple(refs), place


def has_any(lows: Iterable[str], name: str) -> bool:
    """Whether a word of a closed list is among these."""
    return not words(name).isdisjoint(lows)
