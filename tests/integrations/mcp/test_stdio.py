"""`graphsearch mcp` as clients start it: a process over stdio, on an embedded Postgres of its own."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import threading
from contextlib import asynccontextmanager, suppress

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters
from psycopg import sql

from graphsearch.cli.app import app
from graphsearch.integrations.mcp.stdio_server import Lines
from graphsearch.stores.embedded import EmbeddedPostgres
from tests.fix_postgres import copied
from tests.integrations.mcp.conftest import Asked
from tests.integrations.mcp.tour import at_once, every_tool, faults
from tests.waiting import LONGEST, until

COMMAND = ["-c", "from graphsearch.cli import main; main()", "mcp"]
PLACE = ["--org", "acme", "--project", "web", "--principal", "ada", "--attribute", "role=editor"]
TRANSCRIPT = [
    {"speaker": "Grace Hopper", "content": "Hi, I work at Globex.", "time": "2026-01-10T09:00:00Z"},
    {"speaker": "Ada Lovelace", "content": "Grace Hopper built COBOL. COBOL uses Flowmatic."},
    {"role": "assistant", "content": "Noted. Ada Lovelace reports to Grace Hopper."},
]
QUESTION = "What did Grace Hopper build?"


@pytest.fixture(scope="module")
def data(finished_folder):
    """The folder of a server that starts and stops with the processes that use it."""
    with copied(finished_folder) as folder:
        yield folder


def parameters(folder, *options):
    return StdioServerParameters(command=sys.executable, args=[*COMMAND, "--embedded", str(folder), *PLACE, *options])


@asynccontextmanager
async def started(folder, *options):
    async with Client(parameters(folder, *options)) as client:
        yield Asked(client)


def stopped(folder):
    return not (folder / "postmaster.pid").exists()


def users(folder):
    """The processes that keep the embedded server running: here, one server of MCP."""
    return [psutil.Process(pid) for pid in json.loads((folder / ".handle_pids.json").read_text())]


def admin(folder):
    """A connection past all walls, to look at and to stand in the way of what the server does."""
    socket = (folder / "postmaster.pid").read_text().splitlines()[4]
    options = "-csearch_path=graphsearch"
    return psycopg.connect(host=socket, user="postgres", dbname="graphsearch", options=options, autocommit=True)


async def test_every_tool_faults_an_agent_and_many_calls_at_once(data):
    async with started(data) as ask:
        await every_tool(ask)
        await faults(ask)
        await learn_ask_and_report(ask)
        await at_once(ask, ["COBOL", "Globex", "Grace Hopper"])
        assert "works_at" in await ask.resource("graphsearch://schema")
        await give_up(ask, data)


async def learn_ask_and_report(ask):
    """The day of an agent, whose report moves the weight of what was of use."""
    learnt = await ask("remember", turns=TRANSCRIPT, session_id="standup")
    first = await ask("graph_query", query=QUESTION, budget=80, session_id="task-1")
    built = next(each for each in first["triplets"] if each["line"].startswith("Grace Hopper --created--> COBOL"))
    before = await ask("explain", query=QUESTION, id=built["relation_id"])
    report = await ask("feedback", session_id="task-1", outcome="accepted")
    second = await ask("graph_query", query=QUESTION, budget=80, session_id="task-2")
    after = await ask("explain", query=QUESTION, id=built["relation_id"])
    assert learnt["changed"] == 3
    assert [each.partition("#")[0] for each in learnt["memory_ids"]] == ["standup:0", "standup:1", "standup:2"]
    assert 0 < first["tokens"] <= first["budget"] == 80
    assert "- Grace Hopper --created--> COBOL" in first["text"]
    assert report["moved"] > 0
    learnt_of = [{part["name"]: part["value"] for part in each["parts"]}["feedback"] for each in (before, after)]
    assert learnt_of == [0.5, 0.55]
    again = next(each for each in second["triplets"] if each["relation_id"] == built["relation_id"])
    assert again["score"] > built["score"]


async def test_a_client_that_closes_standard_input_ends_the_server_and_its_postgres(data):
    process = await raw(data)
    (user,) = users(data)
    assert user.pid == process.pid
    assert process.stdin is not None
    process.stdin.write(b'no JSON\n{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "recall"}}\n')
    process.stdin.close()
    printed, errors = await asyncio.wait_for(process.communicate(), LONGEST)
    assert process.returncode == 0
    assert stopped(data)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in printed.splitlines()), "nothing else goes to the wire"
    assert b"Traceback" not in errors


async def test_a_signal_ends_the_server_and_its_postgres_though_the_client_stays(data):
    process = await raw(data)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), LONGEST) == 0
    assert stopped(data)


async def raw(folder):
    """A server process, up and answering."""
    given = parameters(folder)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(given.command, *given.args, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    answer = json.loads(await asyncio.wait_for(process.stdout.readline(), LONGEST))
    assert answer["id"] == 1
    return process


async def give_up(ask, data):
    """A call that is given up writes nothing, and the next one works."""
    with admin(data) as other:
        call = await blocked(ask("remember", text="Linus Torvalds built Git."), other)
        call.cancel()
        await until(lambda: waiting(other) == 0)
        other.execute("ROLLBACK")
    assert (await ask("search_entities", query="Linus"))["entities"] == []
    assert (await ask("remember", text="Linus Torvalds built Git."))["changed"] == 1


CLIENT = """
import asyncio, sys
from mcp import Client, StdioServerParameters

async def main():
    async with Client(StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])) as client:
        await client.call_tool("remember", {"text": "Guido van Rossum built Python."})

asyncio.run(main())
"""


async def test_a_client_that_is_killed_in_mid_call_leaves_nothing_half_written_and_no_process(data):
    async with EmbeddedPostgres(data):  # keeps it running, to look at what the call left
        with admin(data) as other:
            before = written(other)
            lock(other)
            given = parameters(data)
            client = await asyncio.create_subprocess_exec(sys.executable, "-c", CLIENT, given.command, *given.args)
            await until(lambda: waiting(other) == 1)
            (server,) = [each for each in users(data) if each.ppid() == client.pid]
            client.kill()
            await client.wait()
            await until(lambda: waiting(other) == 0)
            await until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
            other.execute("ROLLBACK")
            assert written(other) == before
    assert stopped(data)


@pytest.mark.parametrize(
    ("options", "message_part"),
    [
        (("--http", "localhost:0"), "give either --principal"),
        (("--principal", "ada", "--tokens", __file__), "give either --principal"),
        (("--principal", "ada", "--allow-host", "x"), "come with --http"),
        (("--principal", "ada", "--http", "nowhere"), "must be HOST:PORT"),
        (("--principal", "ada", "--max-tokens", "10"), "500"),
        (("--principal", "ada", "--cache", "ftp://x"), "--cache must be memory, none or the URL of a Redis server"),
        (("--principal", "ada", "--statistics", "mine"), "visible"),
        (("--tokens", __file__, "--http", "localhost:0"), "cannot be read as JSON"),
    ],
)
def test_bad_options_are_reported_before_anything_starts(tmp_path, options, message_part):
    place = ("--embedded", str(tmp_path / "data"), "--org", "acme", "--project", "web")
    found = CliRunner().invoke(app, ["mcp", *place, *options])
    assert found.exit_code in (1, 2)
    assert found.stdout == ""
    assert message_part in " ".join(found.stderr.split())
    assert not (tmp_path / "data").exists()


async def blocked(call, other):
    """A call that waits for a lock, which another connection holds until it rolls back."""
    lock(other)
    task = asyncio.ensure_future(call)
    await until(lambda: waiting(other) == 1)
    return task


def lock(other):
    """Let nobody write relations: memories and entities of the same transaction are written before them."""
    other.execute("BEGIN")
    other.execute("LOCK TABLE relation IN SHARE MODE")


def waiting(other):
    """How many connections wait for a lock."""
    row = other.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row[0]


def written(other):
    tables = ("memory", "mention", "claim", "entity", "relation", "evidence")
    count = sql.SQL("SELECT count(*) FROM {}")
    counts = [other.execute(count.format(sql.Identifier(table))).fetchone()[0] for table in tables]
    return dict(zip(tables, counts, strict=True))


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    with suppress(OSError):  # the test may have closed it
        os.close(writing)
    for thread in threading.enumerate():
        if thread.name == "standard input":
            thread.join(LONGEST)
    os.close(reading)


async def test_lines_come_whole_and_end_with_the_file(pipe):
    reading, writing = pipe
    lines = aiter(Lines(reading))
    os.write(writing, b'{"a":\xc3')
    await until(lambda: not select.select([reading], [], [], 0)[0])  # it is read
    os.write(writing, b"\xa9}\n\xff\nrest")
    os.close(writing)
    assert [line async for line in lines] == ['{"a":é}', "\ufffd"]


async def test_closing_ends_the_lines_though_the_other_end_stays_open(pipe):
    reading, writing = pipe
    lines = Lines(reading)
    os.write(writing, b"one\n")
    found = aiter(lines)
    assert await anext(found) == "one"
    lines.close()
    async with asyncio.timeout(LONGEST):
        assert [line async for line in found] == []


async def test_many_lines_wait_for_whoever_reads_them(pipe):
    reading, writing = pipe
    lines = Lines(reading)
    expected = [str(number) for number in range(1_000)]
    writer = asyncio.to_thread(os.write, writing, "".join(f"{line}\n" for line in expected).encode())
    await writer
    await until(lambda: lines._lines.qsize() >= 64 and lines._room._value == 0)
    assert lines._lines.qsize() == 64
    os.close(writing)
    assert [line async for line in lines] == expected


def test_a_loop_that_is_gone_ends_the_reading(pipe):
    reading, writing = pipe

    async def start():
        return Lines(reading)

    asyncio.run(start())
    os.write(writing, b"nobody reads this\n")


async def test_a_terminal_that_hangs_up_ends_the_lines():
    assert [line async for line in Lines(1_000_000)] == []  # no such file is open
