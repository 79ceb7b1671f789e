"""Where a command works: the settings of the nearest graphsearch.toml, and their defaults."""

from __future__ import annotations

import getpass
import os
import pwd
import tomllib
from pathlib import Path
from typing import Any, Final

import attrs
import click

from graphsearch.errors import InvalidInputError
from graphsearch.model.codec import decode

FILE: Final = "graphsearch.toml"
ORG: Final = "local"


@attrs.frozen(kw_only=True)
class Settings:
    """What the file may set: options by their names, and ``embedder``, as GRAPHSEARCH_EMBEDDER.

    Neither the URL of a model's server nor policies: a folder that somebody else made must not send a key anywhere.
    """

    org: str = ""
    project: str = ""
    principal: str = ""
    also: tuple[str, ...] = ()
    dsn: str = ""
    embedded: str = ""
    llm: str = ""
    embedder: str = ""


def read_settings() -> tuple[Path | None, dict[str, Any]]:
    """The nearest graphsearch.toml, and what it sets; a relative ``embedded`` is relative to the file.

    Raises `InvalidInputError` for a file that cannot be read, and for keys that there are not.
    """
    file = next((each / FILE for each in _around() if (each / FILE).is_file()), None)
    if file is None:
        return None, {}
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(str(file), [f"it cannot be read: {error}"]) from error
    found = {name: value for name, value in attrs.asdict(decode(Settings, written, str(file))).items() if value}
    if "embedded" in found:
        found["embedded"] = str(file.parent / Path(found["embedded"]).expanduser())
    return file, found


def project_name() -> str:
    """The name of the repository, else of the current folder."""
    folder = next((each for each in _around() if (each / ".git").exists()), Path.cwd())
    return "".join(each if each.isalnum() or each in "._-" else "-" for each in folder.name)[:60] or "project"


def user_name() -> str:
    """The name of the user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number without a name
        return f"user-{os.getuid()}"


def data_folder() -> Path:
    """The folder of the embedded graph: in the user's data directory, but for root, whose home stays closed."""
    import platformdirs  # noqa: PLC0415 - an optional extra

    data = platformdirs.user_data_path("graphsearch")
    is_closed = os.geteuid() == 0 and data.is_relative_to(pwd.getpwuid(0).pw_dir)
    return (Path("/var/lib/graphsearch") if is_closed else data) / "graph"


def source_of(option: str) -> str:
    """Where the value of an option of the running command comes from."""
    match click.get_current_context().get_parameter_source(option):
        case click.core.ParameterSource.COMMANDLINE:
            return f"--{option}"
        case click.core.ParameterSource.ENVIRONMENT:
            return f"GRAPHSEARCH_{option.upper()}"
        case click.core.ParameterSource.DEFAULT_MAP:
            return str(read_settings()[0])
    return "default"


def _around() -> list[Path]:
    """The current folder and those around it, to the repository or the home folder; outside of both it alone."""
    here = Path.cwd()
    around = [here, *here.parents]
    ends = (place for place, each in enumerate(around) if each == Path.home() or (each / ".git").exists())
    return around[: next(ends, 0) + 1]
