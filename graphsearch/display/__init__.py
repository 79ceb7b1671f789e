"""How answers look in a notebook: HTML without scripts or anything from outside, and plain text."""
