"""The operations: what graphsearch does, row by row, for the command line, MCP, REST and the blocking facade."""
