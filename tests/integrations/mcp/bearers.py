"""Tokens, the principals they stand for, and the file that maps them."""

import hashlib
import json

ADA, BOB, EVE = "ada's long and random token", "bob's", "eve's"


def sha256(token):
    return hashlib.sha256(token.encode()).hexdigest()


ENTRIES = [
    {"sha256": sha256(ADA), "principal": "ada", "attributes": {"role": "editor"}},
    {"sha256": sha256(BOB), "principal": "bob", "type": "Agent", "org": "acme", "project": "web"},
    {"sha256": sha256(EVE), "principal": "eve", "org": "acme", "project": "old"},
]
DISABLED = [{"org": "acme", "project": "old"}]


def token_file(folder, content):
    path = folder / "tokens.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
