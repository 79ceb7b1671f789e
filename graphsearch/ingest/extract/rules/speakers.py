"""What the memories of one call say of each other's names: who speaks, and who or what is called how."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.beside import speaker_of
from graphsearch.ingest.extract.rules.declarations import Declared, declarations
from graphsearch.ingest.extract.rules.linked_names import NO_LINKED_NAMES, LinkedNames, linked_names
from graphsearch.ingest.extract.rules.relating import CO_OCCURS
from graphsearch.ingest.extract.rules.topics import Topics, topics
from graphsearch.model import Memory
from graphsearch.model.extracted import Said
from graphsearch.text import word_lists as known
from graphsearch.text.found_names import Found

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CONFIDENCE: Final = 0.8
_NOT_NAMED: Final = frozenset({"date", "url", "file", "function"})


@lru_cache(maxsize=1024)
def name_key(name: str) -> str:
    """What is the same for each spelling of a name within a text."""
    return " ".join(name.split()).casefold()


@attrs.frozen(eq=False)
class SmallNames:
    """Names to be found though they are written in small letters, by their last word, longer ones first."""

    by_word: Mapping[str, Sequence[tuple[str, ...]]]

    @classmethod
    def of(cls, names: Iterable[str]) -> SmallNames:
        """Of names in any case."""
        found: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for name in dict.fromkeys(names):
            words = tuple(_WORD.findall(name.casefold()))
            if words:
                found[words[-1]].append(words)
        return cls({word: sorted(listed, key=len, reverse=True) for word, listed in found.items()})

    def within(self, text: str) -> SmallNames:
        """These, or none of them where a text has no last word of any."""
        small = text.lower() if self.by_word else ""
        return self if any(word in small for word in self.by_word) else NO_SMALL_NAMES

    def find(self, text: str, start: int, end: int) -> Iterator[Found]:
        """Where [start, end) of a text has one of them, in order; of those that end alike only the longest."""
        if not self.by_word:
            return
        read = [(_bare(match[0].casefold()), match.start()) for match in _WORD.finditer(text, start, end)]
        words = [word for word, _ in read]
        for at, word in enumerate(words):
            for name in self.by_word.get(word, ()):
                first = at + 1 - len(name)
                if first >= 0 and tuple(words[first : at + 1]) == name:
                    close = read[at][1] + len(word)
                    yield Found(start=read[first][1], end=close, type="", confidence=_CONFIDENCE, pattern="known")
                    break


def _bare(word: str) -> str:
    """A word without the mark of possession."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


NO_SMALL_NAMES: Final = SmallNames({})


@attrs.frozen(kw_only=True, eq=False)
class Conversation:
    """Names that hold in all memories of one call.

    ``whole`` gives the whole name for each name that a person goes by: whole names of speakers, their first names and
    surnames where they are one speaker's alone, and what somebody is declared to be called. ``declared`` are the short
    names that each memory declares, by its id, but for those that are declared of two, or that somebody else bears.
    ``small`` are those of them that are written in small letters. ``linked`` are names with a small word inside.
    ``topics`` tells for each memory, by its id, what its speaker may be answering.
    """

    whole: Mapping[str, str] = attrs.field(factory=dict)
    declared: Mapping[str, Sequence[Declared]] = attrs.field(factory=dict)
    small: SmallNames = NO_SMALL_NAMES
    linked: LinkedNames = NO_LINKED_NAMES
    topics: Mapping[str, Topics] = attrs.field(factory=dict)

    @property
    def people(self) -> Collection[str]:
        """The names that persons go by."""
        return self.whole.keys()


def conversation(memories: Sequence[Memory]) -> Conversation:
    """Of some memories: in time linear in their text."""
    speakers = {speaker: None for memory in memories if (speaker := speaker_of(memory))}
    bearers: defaultdict[str, set[str]] = defaultdict(set)
    for speaker in speakers:
        for key in {name_key(speaker), *_parts(speaker)}:
            bearers[key].add(speaker)
    found = [*_found(memories)]
    whole: defaultdict[str, set[str]] = defaultdict(set)
    resolved = [(id_, Declared(each.short, _whole(each.full, bearers))) for id_, each in found]
    for _, each in resolved:
        whole[name_key(each.short)].add(each.full)
    declared: defaultdict[str, dict[Declared, None]] = defaultdict(dict)
    called: dict[str, str] = {}
    for id_, each in resolved:
        key = name_key(each.short)
        if len(whole[key]) == 1 and not bearers.get(key, set()) - {each.full}:
            declared[id_][each] = None
            if each.full in speakers:
                called[key] = name_key(each.full)
    people = {key: name_key(next(iter(named))) for key, named in bearers.items() if len(named) == 1} | called
    return Conversation(
        whole=people,
        declared={id_: tuple(each) for id_, each in declared.items()},
        small=SmallNames.of(
            each.short for several in declared.values() for each in several if each.short.startswith("the ")
        ),
        linked=linked_names((memory.text for memory in memories), people),
        topics=topics(memories),
    )


def _found(memories: Iterable[Memory]) -> Iterator[tuple[str, Declared]]:
    heard: set[str] = set()
    for memory in memories:
        speaker = speaker_of(memory)
        for each in declarations(memory.text, speaker, first=speaker not in heard):
            yield memory.id, each
        heard.add(speaker)


def _parts(speaker: str) -> Iterator[str]:
    """First name and surname, unless they are words of the language."""
    words = speaker.split()
    for word in {words[0], words[-1]} if len(words) > 1 else ():
        if name_key(word) not in known.GRAMMAR:
            yield name_key(word)


def _whole(name: str, bearers: Mapping[str, set[str]]) -> str:
    """The whole name of the one speaker who bears a name, else the name."""
    named = bearers.get(name_key(name), set())
    return next(iter(named)) if len(named) == 1 else name


def small_names(told: Conversation, read: Collection[Said]) -> SmallNames:
    """Names that memories write with capitals, for those that have none at all.

    A single word must be a person's, have a type that something told, or be related to another name: any other may be
    a word of the language.
    """
    named = {
        surface.name
        for each in read
        for surface in each.surfaces
        if surface.type not in _NOT_NAMED and (surface.type or " " in surface.name)
    }
    named |= {
        end.name
        for each in read
        for one in each.statements
        if one.type != CO_OCCURS
        for end in (one.source, one.target)
    }
    return SmallNames.of(sorted(name for name in {*named, *told.people} if name_key(name) not in known.COMMON))
