"""What is served over HTTP: MCP, REST, health and metrics, behind one door and the same bearer tokens."""
