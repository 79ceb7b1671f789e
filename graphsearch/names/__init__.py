"""How names of people, organisations, tools and files are written, and which of them may mean the same."""
