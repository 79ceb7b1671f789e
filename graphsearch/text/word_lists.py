"""Words and lines of data files."""

from __future__ import annotations

from importlib.resources import files


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def data_lines(package: str, name: str) -> list[str]:
    """The lines of a data file of a package, without empty ones and comments."""
    lines = (line.strip() for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]
