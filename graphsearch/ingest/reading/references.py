"""Whom pronouns mean: the speaker, the last name of the right kind, the subject of a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

FIRST: Final = frozenset({"i", "me", "my"})
OWN_SIDE: Final = frozenset({"we", "us", "our"})
PERSON: Final = frozenset({"he", "she", "him", "her", "his"})
THING: Final = frozenset({"it", "its"})
SEVERAL: Final = frozenset({"they", "them", "their"})
_FIRMS: Final = ("organisation", "group")
_NEAR: Final = 0.88
"""How sure it is whom a pronoun means by the name before it in its sentence, by a title, or by who speaks."""
_ELSEWHERE: Final = 0.85
"""By the one name of its kind in an earlier sentence."""
_TITLE: Final = 0.86
"""By the title of the document."""
_WINDOW: Final = 3


class Named(NamedTuple):
    """A name with its kind, and how sure it is that it is meant. ``hard``: the kind is more than a guess."""

    name: str
    kind: str
    sure: float = 1.0
    start: int = -1
    hard: bool = False


class Context(NamedTuple):
    """What pronouns of one sentence can refer to.

    ``firm``: where the speaker works, if the call says so; ``title``: the subject of a document; ``recent``: the names
    of each sentence before, in this memory and the one before it. "You" is nobody: it is more often said of anybody.
    """

    speaker: str = ""
    firm: Named | None = None
    title: Named | None = None
    recent: Sequence[Sequence[Named]] = ()

    def meant(self, pronoun: str, earlier: Sequence[Named], kinds: Sequence[str]) -> Named | None:
        """The name that a pronoun stands for; ``earlier`` are the names before it in its sentence.

        ``kinds`` are those that it can have here; "we" that are persons alone include the speaker.
        """
        as_person = "organisation" not in kinds and "group" not in kinds
        if pronoun in FIRST or pronoun in OWN_SIDE:
            return self._own(pronoun, kinds, as_person=as_person)
        title = None if self.speaker or not self.title else self.title._replace(sure=_TITLE)
        if pronoun in PERSON:
            return title if title and title.kind == "person" else self._last(("person",), earlier)
        if pronoun == "there":
            meant = self._last([each for each in ("place", *_FIRMS, "") if each in (*kinds, "")], earlier)
            return meant and meant._replace(sure=_NEAR)  # the place that was spoken of
        if pronoun in THING:
            if title and title.kind != "person":
                return title
            firms = () if kinds[0] == "thing" else _FIRMS  # "works on it" is not of a firm named before
            return self._last([each for each in ("thing", *firms) if each in kinds], earlier)
        if pronoun in SEVERAL:
            return title if title and title.kind != "person" else self._several(earlier, as_person=as_person)
        return None

    def _own(self, pronoun: str, kinds: Sequence[str], *, as_person: bool) -> Named | None:
        """The speaker; for "we", the speaker's firm if it is known."""
        me = Named(self.speaker, "person", hard=True) if self.speaker else None
        if pronoun in FIRST or (as_person and pronoun != "our"):
            return me
        if self.firm:
            return self.firm._replace(sure=min(self.firm.sure, _NEAR))
        return me._replace(sure=_NEAR) if me and pronoun != "our" and "person" in kinds else None

    def _several(self, earlier: Sequence[Named], *, as_person: bool) -> Named | None:
        """Whom "they" means: the last firm, or a person of the same sentence where no firm is near."""
        firm = self._last(_FIRMS, earlier)
        if as_person:
            return None if firm else _only(("person",), earlier, self.speaker)
        return firm or self._last(("",), earlier)

    def _last(self, kinds: Sequence[str], earlier: Sequence[Named]) -> Named | None:
        """The one name of these kinds in its sentence, or in the last one that has any; None if it has several."""
        for seen in (earlier, *reversed(self.recent[-_WINDOW:])):
            if any(each.kind in kinds and each.name != self.speaker for each in seen):
                found = _only(kinds, seen, self.speaker)
                return found if seen is earlier or not found else found._replace(sure=_ELSEWHERE)
        return None


def _only(kinds: Sequence[str], seen: Sequence[Named], speaker: str) -> Named | None:
    """The only name of these kinds but for the speaker's."""
    fitting = [each for each in seen if each.kind in kinds and each.name != speaker]
    whole = max(fitting, key=lambda each: len(each.name), default=Named("", ""))
    words_ = {*whole.name.casefold().split()}
    alone = bool(words_) and all(each.name and {*each.name.casefold().split()} <= words_ for each in fitting)
    return whole._replace(sure=_NEAR) if alone else None
