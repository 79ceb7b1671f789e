"""An MCP server over a graph, for any agent. Needs the extra "mcp"; `graphsearch mcp` starts one."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily, require

if TYPE_CHECKING:
    from graphsearch.integrations.http.app import PATH as PATH
    from graphsearch.integrations.http.app import address as address
    from graphsearch.integrations.http.app import http_app as http_app
    from graphsearch.integrations.http.app import serve_http as serve_http
    from graphsearch.integrations.http.page import page_routes as page_routes
    from graphsearch.integrations.http.rest import rest_routes as rest_routes
    from graphsearch.integrations.http.tokens import TokenMap as TokenMap
    from graphsearch.integrations.mcp.server import make_server as make_server
    from graphsearch.integrations.mcp.stdio_server import serve_stdio as serve_stdio
    from graphsearch.operations.service import GraphService as GraphService
    from graphsearch.operations.service import Identity as Identity
    from graphsearch.operations.serving import Desk as Desk

require("mcp", extra="mcp", purpose="the MCP server")

__getattr__, __dir__ = lazily(__name__)
