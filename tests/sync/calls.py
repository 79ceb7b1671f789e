"""Coroutines to wait for."""

import asyncio
import threading


async def double(number):
    await asyncio.sleep(0.001)
    return 2 * number


class Slow:
    """A coroutine that takes long, and reports when it began and that it was cancelled."""

    def __init__(self):
        self.began = threading.Event()
        self.cleaned_up = False

    async def wait(self):
        self.began.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            self.cleaned_up = True
