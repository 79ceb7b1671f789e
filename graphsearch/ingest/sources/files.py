"""The files of a folder to ingest, and their relative paths. Symbolic links are never followed."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Fault, UnreadableError
from graphsearch.model import validation as check

SUFFIXES: Final = (".py", ".jsonl", ".md", ".txt", ".html", ".htm", ".docx", ".pdf", ".csv", ".json", ".zip")
SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules", "site-packages", ".git", ".hg", ".svn", ".tox"})
_BEGINNING: Final = 1 << 16
"""Bytes of a file that are looked at to see what it is."""
_KEY: Final = re.compile(rb"^[ \t]*-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.MULTILINE)
_SECRET: Final = re.compile(
    r"(?:id_(?:rsa|dsa|ecdsa|ed25519)|[._]netrc|\.?(?:git-)?credentials|\.pgpass|\.htpasswd)(?:\.\w+)?$"
    r"|.*\.(?:pem|key|p12|pfx|kdbx|ppk|jks|keystore)(?:\.\w+)?$",
    re.IGNORECASE,
)
"""The names of files with private keys or passwords, also with a suffix added."""
MAX_BYTES: Final = 2_000_000
"""Size limit of a Python file, and of a line of JSON."""


@attrs.frozen
class Folder:
    """The scope of an ingest: the root that imports start from, its name, and the relative paths to keep to.

    ``hidden``: hidden files and folders are found as well.
    """

    root: Path
    name: str
    only: tuple[str, ...] = ()
    hidden: bool = False

    def covers(self, path: str) -> bool:
        """Whether a relative path is in the scope of this ingest."""
        return not self.only or any(path == part or path.startswith(f"{part}/") for part in self.only)


def locate(path: Path, *, name: str | None = None, only: Iterable[str] = ()) -> Folder:
    """The folder for a path given by the user.

    The root of a package, or of a file in one, is the folder that its imports start from, so that a module has the same
    name from any path. Raises `InvalidInputError` if there is nothing at the path, or if ``only`` leads out of it.
    """
    try:
        given = path.resolve(strict=True)
    except OSError as error:
        raise InvalidInputError("ingest", [f"there is no file or folder at {path}"]) from error
    parts = tuple(map(PurePosixPath, only))
    outside = [part for part in parts if part.is_absolute() or ".." in part.parts or not part.parts]
    is_other = not given.is_dir() and given.suffix.lower() not in SUFFIXES
    check.refuse(
        "ingest",
        *(f"only must hold paths inside the folder, not '{part}'" for part in outside),
        f"{path} is neither a folder nor one of {', '.join(SUFFIXES)}" if is_other else None,
    )
    root = given if given.is_dir() else given.parent
    while (root / "__init__.py").is_file() and root != root.parent:
        root = root.parent
    below = PurePosixPath(given.relative_to(root))
    if below.parts:
        parts = tuple(below / part for part in parts) or (below,)
    return Folder(root, name or root.name or "root", tuple(map(str, parts)))


def survey(folder: Folder, is_read: Callable[[Path], bool]) -> tuple[list[str], list[Fault]]:
    """Sorted relative POSIX paths of the files to ingest and of folders that cannot be read; and what is skipped.

    Skipped are hidden files and folders, and private keys, unless the folder keeps to their very paths; and, counted by
    suffix, links and files of which ``is_read`` is false.
    """
    found: dict[str, None] = {}
    refused: dict[str, Fault] = {}
    others: dict[str, list[str]] = {}
    for start in sorted(set(folder.only or ("",))):
        for path in _walk(folder.root, start, hidden=folder.hidden):
            place = folder.root / path
            is_ours = path == start or (not (place.is_dir() or place.is_symlink()) and is_read(place))
            if path != start and (why := _refusal(place, hidden=folder.hidden, is_read=is_ours)):
                refused[path] = Fault(path, 0, f"skipped: {why}; to read it, name its path")
            elif place.is_symlink():
                others.setdefault("links", []).append(path)
            elif is_ours or (place.is_dir() and not path.endswith("/")):
                found[path] = None
            elif folder.hidden or not place.name.startswith("."):
                others.setdefault(f"*{place.suffix}" if place.suffix else "no suffix", []).append(path)
    unread = (Fault(kind, 0, f"{len(paths)} not read: {several(paths)}") for kind, paths in sorted(others.items()))
    return list(found), [*(fault for path, fault in refused.items() if path not in found), *unread]


_FEW: Final = 3


def several(paths: Sequence[str]) -> str:
    """A few of some paths, and how many more there are."""
    return ", ".join(paths[:_FEW]) + (f" and {len(paths) - _FEW} more" if len(paths) > _FEW else "")


def _refusal(path: Path, *, hidden: bool, is_read: bool) -> str | None:
    """Why a file or folder found by its name is not to be read, if so."""
    is_secret = _SECRET.match(path.name) is not None
    if path.name.startswith(".") and not hidden:
        return "it is hidden" if path.is_dir() or is_read or is_secret else None
    is_secret = is_secret or (is_read and _KEY.search(beginning(path)) is not None)
    return "it may be a private key or a password" if is_secret and not path.is_dir() else None


def beginning(path: Path) -> bytes:
    """The first bytes of a file; none of what cannot be read, which is reported where it is read."""
    try:
        with opened(Folder(path.parent, ""), path.name) as file:
            return file.read(_BEGINNING)
    except UnreadableError:
        return b""


def _walk(root: Path, start: str, *, hidden: bool) -> Iterator[str]:
    """Relative paths of all files, links and unreadable folders, and of hidden folders, with "/", unless walked too."""
    place = root / start
    if any((root / part).is_symlink() for part in (PurePosixPath(start), *PurePosixPath(start).parents) if part.name):
        return
    if place.is_file():
        yield start
    unreadable_folders: list[OSError] = []
    for folder, subfolders, names in os.walk(place, onerror=unreadable_folders.append):
        links = (name for name in subfolders if Path(folder, name).is_symlink())
        wanted = sorted(name for name in subfolders if _wanted(Path(folder, name)))
        subfolders[:] = [name for name in wanted if hidden or not name.startswith(".")]
        within = [f"{name}/" for name in wanted if name not in subfolders]
        yield from (
            f"{(Path(folder) / name).relative_to(root).as_posix()}{'/' * name.endswith('/')}"
            for name in (*within, *sorted((*names, *links)))
        )
    yield from (Path(error.filename).relative_to(root).as_posix() for error in unreadable_folders if place.is_dir())


def _wanted(place: Path) -> bool:
    return place.name not in SKIPPED_FOLDERS and not place.is_symlink() and not (place / "pyvenv.cfg").exists()


@contextmanager
def opened(folder: Folder, path: str) -> Iterator[BufferedReader]:
    """A file to read. Raises `UnreadableError` if it cannot be read, or its name is not Unicode."""
    try:
        path.encode()
        place = folder.root / path
        mode = place.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a pipe would wait for its writer
            raise OSError(errno.EINVAL, "not a regular file")  # noqa: TRY301 - as if the system refused it
        with place.open("rb") as file:
            yield file
    except OSError as error:
        raise UnreadableError(Fault(path, 0, f"cannot be read: {error.strerror or error}")) from error
    except UnicodeEncodeError as error:
        shown = path.encode("utf-8", "backslashreplace").decode()
        raise UnreadableError(Fault(shown, 0, "the file's name is not valid Unicode")) from error


def read(folder: Folder, path: str, *, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file. Raises `UnreadableError` if it is larger than ``limit`` or cannot be read."""
    with opened(folder, path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise UnreadableError(Fault(path, 0, f"larger than {limit:,} bytes; split it, or keep it out of the folder"))
    return content


def lines_of(file: BinaryIO, longest: int = MAX_BYTES) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers; of one of more than ``longest`` bytes only the first, and one more."""
    number = 0
    while content := file.readline(longest + 1):
        number += 1
        yield number, content
        while len(content) > longest and not content.endswith(b"\n"):
            content = file.readline(longest + 1)


def utf8_text(path: str, content: bytes) -> str:
    """The file as text. Raises `UnreadableError` with the line of the first invalid byte."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(Fault(path, line, f"not valid UTF-8: {error.reason}")) from error
    if "\0" in text:
        raise UnreadableError(Fault(path, text.count("\n", 0, text.index("\0")) + 1, "holds a NUL character"))
    return text


def fingerprint(folder: Folder, path: str, version: str) -> str:
    """Hash of a file's bytes, the reader's version, and the part of the folder that is ingested with it."""
    with opened(folder, path) as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    parts = "\0".join(folder.only)
    return hashlib.sha256(f"{version}\0{parts}\0{content}".encode()).hexdigest()
