"""The container file: what it starts, with the environment that it sets, answers the health check that it names."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.fix_postgres import folder_for_a_server
from tests.waiting import LONGEST, until_then

pytest.importorskip("mcp")
FILE = Path(__file__).parents[2] / "examples" / "container" / "Dockerfile"
LINES = FILE.read_text().replace("\\\n", "").splitlines()
TOKEN = "a token of this test"


def instruction(name: str) -> str:
    """What the last instruction of a name says."""
    return next(line.removeprefix(name).strip() for line in reversed(LINES) if line.startswith(name))


def test_what_the_container_starts_answers_its_health_check_and_ends_on_its_signal(tmp_path: Path) -> None:
    assert "USER 10001" in LINES
    known = [{"sha256": hashlib.sha256(TOKEN.encode()).hexdigest(), "principal": "ada"}]
    (tmp_path / "tokens.json").write_text(json.dumps({"tokens": known}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def command(text: str) -> list[str]:
        written = text.replace("/run/secrets", str(tmp_path)).replace("8765", port).replace('"python"', '"python3"')
        return [str(each) for each in json.loads(written)]

    healthy = command(instruction("HEALTHCHECK").partition("CMD ")[2])
    with folder_for_a_server() as data:
        variables = dict(re.findall(r"(\w+)=(\S+)", instruction("ENV")))
        variables |= {"XDG_DATA_HOME": str(data.parent), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
        started = [*command(instruction("ENTRYPOINT")), *command(instruction("CMD"))]
        running = subprocess.Popen(started, env=variables, cwd=tmp_path)

        def answers() -> bool:
            assert running.poll() is None, "it ended"
            return subprocess.run(healthy, env=variables, stderr=subprocess.DEVNULL, check=False).returncode == 0

        try:
            until_then(answers)
            asked = httpx.get(f"http://127.0.0.1:{port}/v1/stats", headers={"Authorization": f"Bearer {TOKEN}"})
            assert asked.status_code == 200
            assert httpx.get(f"http://127.0.0.1:{port}/v1/stats").status_code == 401
            assert (data.parent / "graphsearch" / "graph" / "PG_VERSION").is_file()
        finally:
            running.send_signal(signal.Signals[instruction("STOPSIGNAL")])
            assert running.wait(LONGEST) == 0
