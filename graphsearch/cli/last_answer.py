"""The last answer in a place: what its rows are, so that a later command may name one by its number."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

import attrs
import click

from graphsearch.cli.environment import Place
from graphsearch.cli.settings import source_of
from graphsearch.errors import UnknownElementError
from graphsearch.stores.in_postgres.session.faults import describe
from graphsearch.text.rendering import safe_text

_SHORTEST: Final = 4
"""The fewest characters of a short id: fewer are the number of a row."""


@attrs.frozen
class LastAnswer:
    """The question, and the kind and the id of each row; ``folders`` are those that worked in the place."""

    query: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()

    def find(self, given: str, kind: str) -> tuple[str, str] | None:
        """The row of a number, or of the beginning of its id; None if there is none.

        Raises `UnknownElementError` for a row that is not of the ``kind``, if one is named.
        """
        if given.isdecimal() and len(given) < _SHORTEST:
            found = self.rows[int(given) - 1 : int(given)] if int(given) else ()
        else:
            found = tuple({each for each in self.rows if len(given) >= _SHORTEST and each[1].startswith(given)})
        if len(found) != 1 or found[0][1] == given:
            return None
        if kind and found[0][0] != kind:
            raise UnknownElementError(f"row {given} of the last answer is of a {found[0][0]}, and no {kind}")
        return found[0]


def read_last(place: Place) -> LastAnswer:
    """The last answer in a place; an empty one if there was none."""
    try:
        kept = json.loads(_file(place).read_text(encoding="utf-8"))
        return LastAnswer(kept["query"], tuple((kind, id_) for kind, id_ in kept["rows"]), tuple(kept["folders"]))
    except (OSError, ValueError, LookupError, TypeError):  # never written, or cut off: the next answer writes it
        return LastAnswer()


def keep(place: Place, last: LastAnswer) -> None:
    """Keep an answer: the question and ids, never what it says."""
    file = _file(place)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps(attrs.asdict(last)), encoding="utf-8")
    except OSError as error:
        click.echo(f"rows of this answer have no numbers: {error}", err=True)


def announce(place: Place) -> None:
    """Say where a command works, once in each folder, unless its options say so."""
    last, here = read_last(place), str(Path.cwd())
    given = {source_of(each) for each in ("org", "project", "embedded", "dsn")}
    if here in last.folders or {"--org", "--project"} <= given and given & {"--embedded", "--dsn"}:
        return
    others = f"; so do commands in {', '.join(last.folders)}" if last.folders else ""
    server = describe(place.dsn) if place.folder is None else place.folder
    said = f"working in the project {place.scopes[0]}, its graph in {server}{others} (said once: see `graphsearch where`)"
    click.echo(safe_text(said), err=True)
    keep(place, attrs.evolve(last, folders=(*last.folders, here)))


def _file(place: Place) -> Path:
    """The file of a place, named by a digest: a DSN may hold a password."""
    import platformdirs  # noqa: PLC0415 - an optional extra

    where = json.dumps([place.dsn if place.folder is None else str(place.folder.absolute()), place.org, place.project])
    return platformdirs.user_state_path("graphsearch") / f"{hashlib.sha256(where.encode()).hexdigest()[:32]}.json"
