"""Names of organisations and projects: legal forms, descriptive words, initials."""

from __future__ import annotations

import re
from typing import Final

import attrs

from graphsearch.names.forms import Form, plain_form, significant, squashed, tidy, without_the
from graphsearch.names.vocabulary import (
    ABBREVIATED_WORDS,
    DESCRIPTORS,
    KEPT_LEGAL_FORMS,
    LEGAL_FORMS,
    PROJECT_WORDS,
)
from graphsearch.text.trigrams import spoken_words

_AMERICAN: Final = re.compile(r"iz(?=(?:e[sd]?|ing|ations?)\b)")
_DOTTED: Final = re.compile(r"\b(?:[^\W\d_]\.\s?){2,}|\b(?:[^\W\d_]\.)+[^\W\d_]\b")
_DOMAIN: Final = re.compile(r"(?<=\w)\.(?:com|org|net|io|ai|co)\b", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class OrganisationForm(Form):
    """An organisation's name without its legal form; ``incorporated``: whether it had one."""

    incorporated: bool

    @property
    def rank(self) -> int:
        """The number of words; a legal form breaks ties."""
        return 2 * len(self.words) + self.incorporated

    def fits(self, other: Form) -> bool:
        """As `Form.fits`, or one has a descriptive word more, or only small words and word order differ.

        Examples: "Globex" and "Globex Industries"; "University of Oxford" and "Oxford University".
        """
        turned = sorted(significant(self.words)) == sorted(significant(other.words))
        return turned or (_described(self, other) and self.agrees(other) is not False) or Form.fits(self, other)

    def plainly_fits(self, other: Form, initials: int) -> bool:
        """As `Form.plainly_fits`, or only small words and word order differ."""
        turned = sorted(significant(self.words)) == sorted(significant(other.words))
        return turned or Form.plainly_fits(self, other, initials)

    def agrees(self, other: Form) -> bool | None:
        """False if the shorter is complete and lacks a word: "Acme, Inc." is not "Acme Systems"; else None."""
        short = min(self, other, key=lambda form: len(form.words))
        whole = isinstance(short, OrganisationForm) and short.incorporated
        return False if whole and self.words != other.words and _described(self, other) else None

    def lookups(self) -> tuple[str, ...]:
        """As `Form.lookups`, and initials with that of "corporation" or "company": "IBM" as "IBMC"."""
        return (*Form.lookups(self), *(f"{word}c" for word in self.words if self.partial))


def _described(a: Form, b: Form) -> bool:
    short, long = sorted((a.words, b.words), key=len)
    return long[: len(short)] == short and DESCRIPTORS.issuperset(long[len(short) :])


def organisation_form(name: str) -> OrganisationForm:
    """Parse a name as an organisation's: "the Acme Corporation", "Acme, Inc." and "ACME" have one key."""
    tokens = _DOTTED.sub(lambda match: re.sub(r"[.\s]", "", match[0]) + " ", _DOMAIN.sub("", tidy(name))).split()
    while len(tokens) > 1 and tokens[0].casefold() == "the":
        tokens = tokens[1:]
    legal = 0
    while legal < len(tokens) - 1 and _is_legal(tokens[-legal - 1]):
        legal += 1
    bare = tokens[: len(tokens) - legal]
    kept = [*bare, *(token for token in tokens[len(bare) :][:1] if len(bare) > 1 and _plain(token) in KEPT_LEGAL_FORMS)]
    written = (ABBREVIATED_WORDS.get(word, word) for word in spoken_words(" ".join(bare).replace("&", " and ")))
    words = without_the(tuple(_AMERICAN.sub("is", word) for word in written))
    form = plain_form(name, shown=" ".join(kept).rstrip(",. ") or tidy(name), words=words)
    return OrganisationForm(**attrs.asdict(form, recurse=False), incorporated=legal > 0)


def _is_legal(token: str) -> bool:
    return _plain(token) in LEGAL_FORMS or token in {"&", "+"}


def _plain(token: str) -> str:
    return squashed(spoken_words(token))


def project_form(name: str) -> Form:
    """Parse a name as a project's: "Project Phoenix" and "the Phoenix project" are "Phoenix"."""
    tokens = tidy(name).split()
    while len(tokens) > 1 and tokens[0].casefold() in PROJECT_WORDS:
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[-1].casefold() in PROJECT_WORDS:
        tokens = tokens[:-1]
    shown = tidy(" ".join(tokens))
    return plain_form(name, shown=shown, words=spoken_words(shown.replace("&", " and ").replace("_", " ")))
