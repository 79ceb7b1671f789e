"""Standard input, line by line, without waiting for a client that sends nothing."""

import asyncio
import os
import threading
from contextlib import suppress

import pytest

from graphsearch.integrations.mcp.stdio_server import Lines


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    with suppress(OSError):  # the test may have closed it
        os.close(writing)
    for thread in threading.enumerate():
        if thread.name == "standard input":
            thread.join(5)
    os.close(reading)


async def test_lines_come_whole_and_end_with_the_file(pipe):
    reading, writing = pipe
    lines = aiter(Lines(reading))
    os.write(writing, b'{"a":\xc3')
    await asyncio.sleep(0.05)
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
    async with asyncio.timeout(5):
        assert [line async for line in found] == []


async def test_many_lines_wait_for_whoever_reads_them(pipe):
    reading, writing = pipe
    lines = Lines(reading)
    expected = [str(number) for number in range(1_000)]
    writer = asyncio.to_thread(os.write, writing, "".join(f"{line}\n" for line in expected).encode())
    await writer
    await asyncio.sleep(0.05)
    assert lines._lines.qsize() <= 64
    os.close(writing)
    assert [line async for line in lines] == expected


def test_a_loop_that_is_gone_ends_the_reading(pipe):
    reading, writing = pipe

    async def start():
        return Lines(reading)

    asyncio.run(start())
    os.write(writing, b"nobody reads this\n")


async def test_a_terminal_that_hangs_up_ends_the_lines():
    assert [line async for line in Lines(-1)] == []
