"""The last answers in a place: what their rows are, so that a later command may name one by its number."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import click

from graphsearch.cli.environment import Place, source_of
from graphsearch.cli.handover import state_folder
from graphsearch.cli.showing import Row
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model.codec import decode, encode
from graphsearch.stores.in_postgres.session.faults import describe
from graphsearch.text.rendering import safe_text

_MOST: Final = 5
"""How many answers are kept."""
_SHORTEST: Final = 4
"""The fewest characters of a short id: fewer are the number of a row."""


@attrs.frozen
class LastAnswers:
    """The last answers, newest first: the question and the rows of each. ``folders`` are those that work in the place.

    Only ids are kept, and none once something is forgotten.
    """

    answers: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    folders: tuple[str, ...] = ()

    def find(self, given: str, kind: str = "") -> tuple[str, Row] | None:
        """The newest row of a ``kind`` with this number or beginning of its id, and its question; None for no such row.

        Of any kind, it is one of the answers to a question.
        Raises `UnknownElementError` where only rows of other kinds have the number, or none has that of a relation.
        """
        others = ""
        for question, rows in self.answers:
            if not (kind or question):
                continue
            if given.isdecimal() and len(given) < _SHORTEST:
                found = [row for number, row in enumerate(rows, 1) if number == int(given)]
            else:
                found = [each for each in {*rows} if _is_short_of(given, each.id)]
            if any(each.id == given for each in rows):
                return None
            if len(found) == 1 and kind in ("", found[0].kind):
                return question, found[0]
            others = others or "".join(each.kind for each in found[:1])
        if others and kind:
            raise UnknownElementError(f"{given} is of a {others} in the last answer, and not of a {kind}")
        if kind == "relation" and given.isdecimal() and len(given) < _SHORTEST:
            raise UnknownElementError(f"the last answer has no row {given}: ask again, or give the relation's id")
        return None


def _is_short_of(given: str, id_: str) -> bool:
    """Whether a text begins an id that was made here: ids that somebody chose are given whole."""
    return len(given) >= _SHORTEST and id_.startswith(given) and re.fullmatch("[0-9a-f-]{36}", id_) is not None


def read_last(place: Place) -> LastAnswers:
    """The last answers in a place."""
    try:
        return decode(LastAnswers, json.loads(_file(place).read_text(encoding="utf-8")))
    except (OSError, ValueError, InvalidInputError):  # there was none, or it was cut off: the next one is written
        return LastAnswers()


def add_answer(place: Place, question: str, rows: Sequence[Row]) -> None:
    """Keep the rows of an answer."""
    _write(place, answers=((question, tuple(rows)), *read_last(place).answers)[:_MOST])


def drop_answers(place: Place) -> None:
    """Keep no row: what they name may be gone."""
    _write(place, answers=())


def announce(place: Place) -> None:
    """Say where a command works, once in each folder, unless its options say so."""
    last, here = read_last(place), str(Path.cwd())
    given = {source_of(each) for each in ("org", "project", "embedded", "dsn")}
    if here in last.folders or ({"--org", "--project"} <= given and given & {"--embedded", "--dsn"}):
        return
    others = f"; so do commands in {', '.join(last.folders)}" if last.folders else ""
    server = describe(place.dsn) if place.folder is None else place.folder
    said = f"the project is {place.scopes[0]}, its graph in {server}{others} (said once; see `graphsearch where`)"
    click.echo(safe_text(said), err=True)
    _write(place, folders=(*last.folders, here))


def _write(place: Place, **changed: Any) -> None:
    file, last = _file(place), attrs.evolve(read_last(place), **changed)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps(encode(last)), encoding="utf-8")
    except OSError as error:
        click.echo(f"rows of this answer have no numbers: {error}", err=True)


def _file(place: Place) -> Path:
    """The file of a place, named by a digest: a DSN may hold a password."""
    where = json.dumps([place.dsn if place.folder is None else str(place.folder.absolute()), place.org, place.project])
    return state_folder() / f"{hashlib.sha256(where.encode()).hexdigest()[:32]}.json"
