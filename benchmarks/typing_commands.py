"""Seconds of commands as they are typed, in a home of their own: the least of some runs.

python -m benchmarks.typing_commands
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

RUNS: Final = 5
COMMAND: Final = str(Path(sys.executable).with_name("graphsearch"))


def main() -> None:
    """Print the seconds of the help, of a question, and of a question beside `graphsearch serve`."""
    with tempfile.TemporaryDirectory() as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHSEARCH_", "XDG_"))}
        environment = {**kept, "HOME": home, "PYTHONPYCACHEPREFIX": f"{home}/cache", "PYTHONDONTWRITEBYTECODE": ""}

        def seconds(*arguments: str) -> float:
            started = time.perf_counter()
            subprocess.run([COMMAND, *arguments], cwd=home, env=environment, capture_output=True, check=True)  # noqa: S603 - our own
            return time.perf_counter() - started

        def least(*arguments: str) -> float:
            return round(min(seconds(*arguments) for _ in range(RUNS)), 2)

        seconds("remember", "--text", "Ada Lovelace leads the backend team. Grace Hopper works at Acme.")
        found = {"help": least("--help"), "question": least("who leads the backend?")}
        with subprocess.Popen(  # noqa: S603 - our own
            [COMMAND, "serve"], cwd=home, env=environment, stderr=subprocess.PIPE, text=True
        ) as served:
            if served.stderr is None or "ready" not in served.stderr.readline():
                raise SystemExit("graphsearch serve does not start")
            found["question_beside_serve"] = least("who leads the backend?")
            served.send_signal(signal.SIGTERM)
        print(json.dumps(found))  # noqa: T201 - the result


if __name__ == "__main__":
    main()
