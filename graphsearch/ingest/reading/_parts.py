"""Stand-ins until the parts are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from lean.clauses import Sentence
from lean.lexicon import CALENDAR as CALENDAR
from lean.lexicon import DEMONYM as DEMONYM
from lean.lexicon import GIVEN as GIVEN
from lean.lexicon import ORDINARY as ORDINARY
from lean.lexicon import flags as flags
from lean.names import NameFinder
from lean.names import Read as Read
from lean.names import key as key
from lean.references import Context as Context
from lean.references import Named as Named
from lean.spans import Mention as Mention
from lean.spans import own_kind as own_kind
from lean.statements import Reader
from lean.statements import Stated as Stated

from graphsearch.text.dates import DateSpan


def find_names(
    texts: Sequence[str], speakers: Sequence[str], titles: Sequence[str], known: Mapping[str, str]
) -> list[Read]:
    return NameFinder(known).read(texts, speakers, titles)


def read_sentence(
    read: Read, first: int, stop: int, context: Context, dates: Sequence[DateSpan], at: datetime | None
) -> list[Stated]:
    return Reader(Sentence(read, first, stop, spoken=bool(context.speaker)), context, dates, at).read()


def read_line(line: str) -> object:
    return line
