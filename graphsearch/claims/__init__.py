"""Claims: their fold into relations, and the folded names of entities."""
