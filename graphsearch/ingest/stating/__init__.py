"""Facts as those who know them state them: phrases to types, words to names and dates, checked against the text."""
