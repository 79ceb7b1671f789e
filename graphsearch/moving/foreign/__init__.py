"""Exports of other memory layers, converted into the JSON lines that graphsearch ingests; one file a format."""
