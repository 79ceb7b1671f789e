"""Files that are replaced as a whole, and read whether they are compressed or not; "-" is standard input and output."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast
from uuid import uuid4

from graphsearch.errors import InvalidInputError

UNREADABLE: Final = (OSError, EOFError, zlib.error)
"""What reading a file raises, if it is compressed too."""
STANDARD: Final = "-"
"""The name of standard input and output."""


@contextmanager
def written(target: Path | str) -> Iterator[BinaryIO]:
    """A stream to a file, which is replaced as a whole at the end; to standard output for "-".

    The mode of a file stays. A name that ends in ".gz" is compressed, without a time, so that equal scopes make equal
    files. Raises `InvalidInputError` for a file that cannot be written.
    """
    if str(target) == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        try:
            with temporary.open("wb") as file:
                if path.exists():
                    shutil.copymode(path, temporary)
                if path.suffix == ".gz":
                    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                        yield packed  # type: ignore[misc]
                else:
                    yield file
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInputError("export", [f"cannot write {path}: {error.strerror or error}"]) from error


@contextmanager
def opened(source: Path | str) -> Iterator[BinaryIO]:
    """A stream from a file, of which a compressed one is recognised by its first bytes; standard input for "-".

    Raises `InvalidInputError` for a file that cannot be opened.
    """
    if str(source) == STANDARD:
        yield unpacked(cast(io.BufferedReader, sys.stdin.buffer))
        return
    try:
        file = Path(source).open("rb")  # noqa: SIM115 - closed below, so that only opening it is excused
    except OSError as error:
        raise InvalidInputError("import", [f"cannot read {source}: {error.strerror or error}"]) from error
    with file:
        yield unpacked(file)


def unpacked(file: io.BufferedReader) -> BinaryIO:
    """The stream, or what is compressed in it."""
    return gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file  # type: ignore[return-value]
