"""Operations as tools, run for a caller in this process: what a client of the MCP server gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from graphsearch.integrations.http.rest import for_clients
from graphsearch.integrations.mcp.tools import answer, asked
from graphsearch.model import Scope
from graphsearch.operations.operation import Operation
from graphsearch.operations.service import Caller
from graphsearch.operations.table import operations


@attrs.frozen
class Tool:
    """A tool by its name; a context block is asked for with its details."""

    name: str

    @property
    def operation(self) -> Operation:
        """Its row."""
        return operations()[self.name]

    async def run(self, caller: Caller, given: Mapping[str, Any]) -> dict[str, Any]:
        """The data of the answer."""
        details = {"details": True} if self.name == "graph_query" else {}
        request = asked(self.operation, {**details, **given}, caller.service)
        value = await self.operation.run(caller, request)
        told = answer(self.operation, request, value, caller.service, Scope("acme", "web"))
        return told.structured_content or {}

    async def rest(self, caller: Caller, given: Mapping[str, Any]) -> dict[str, Any]:
        """The answer over REST."""
        value = await self.operation.run(caller, self.operation.read(given))
        told: dict[str, Any] = for_clients(self.operation.told(value), value)
        return told
