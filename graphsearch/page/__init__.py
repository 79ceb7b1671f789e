"""What a page of one question shows: answers, evidence, changes."""
