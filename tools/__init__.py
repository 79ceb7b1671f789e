"""Tools of those who work on graphsearch; nothing of them ships."""
