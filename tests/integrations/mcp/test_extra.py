"""Without the SDK, starting the server raises an error that names what to install."""

import subprocess
import sys

from tests.integrations.test_extras import SCRIPT


def test_a_missing_sdk_is_named_with_its_extra():
    arguments = [sys.executable, "-c", SCRIPT, "mcp", "graphsearch.integrations.mcp"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mcp the MCP server needs the extra 'mcp'")
    assert "pip install 'graphsearch[mcp]'" in done.stdout
