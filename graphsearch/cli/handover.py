"""Hand a command over to the process of `graphsearch serve`, if there is one: all is loaded there, nothing here."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from contextlib import chdir
from pathlib import Path
from typing import Final

_STAY: Final = ("serve", "ui", "mcp", "hook", "record-session")
"""Commands that run in a process of their own."""
LENGTH: Final = 8
"""The bytes of the length of a request; an answer is two numbers of as many: the process, then its exit code."""


def state_folder() -> Path:
    """The folder of what is kept from one command to the next."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "graphsearch"


def address() -> Path:
    """The socket of a process that serves; another installation of graphsearch has another one."""
    return state_folder() / f"serve-{Path(__file__).stat().st_mtime_ns:x}"


def run_elsewhere(arguments: list[str]) -> int | None:
    """Run a command with the files, the folder and the environment of this process; None where nobody serves."""
    where = address()
    if arguments[:1] in ([each] for each in _STAY) or not where.is_socket() or where.stat().st_uid != os.geteuid():
        return None
    with socket.socket(socket.AF_UNIX) as line:
        try:
            with chdir(where.parent):  # a path to a socket has 107 bytes
                line.connect(where.name)
        except OSError:  # it ended without a farewell
            return None
        request = json.dumps([arguments, str(Path.cwd()), {**os.environ}]).encode()
        socket.send_fds(line, [len(request).to_bytes(LENGTH)], [0, 1, 2])
        line.sendall(request)
        process, code = _read(line), None
        while code is None:
            try:
                code = _read(line)
            except KeyboardInterrupt:
                os.kill(process, signal.SIGINT)
        return code


def _read(line: socket.socket) -> int:
    """A number; 1 where the other side was killed."""
    return int.from_bytes(line.recv(LENGTH, socket.MSG_WAITALL) or b"\x01")


def read_request(line: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    """The arguments, the folder, the environment and the open files of a command."""
    length, files, _, _ = socket.recv_fds(line, LENGTH, 3)
    request = line.recv(int.from_bytes(length), socket.MSG_WAITALL)
    arguments, folder, environment = json.loads(request)
    return arguments, folder, environment, files


def take_over(arguments: list[str], folder: str, environment: dict[str, str], files: list[int]) -> None:
    """Make this process, a copy of the one that serves, what the process of a command was."""
    os.setsid()  # it may read a terminal that is not its own
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        stream.reconfigure(line_buffering=os.isatty(number))  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = arguments
