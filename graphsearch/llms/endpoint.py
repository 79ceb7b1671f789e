"""Where a model is served, and the key that opens it."""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import urlsplit

from graphsearch.errors import MissingCredentialError
from graphsearch.model import validation as check

_NO_KEY: Final = "none"  # the vendors' clients insist on a key, servers of one's own ignore it


def key_for(adapter: str, variable: str, api_key: str | None, base_url: str | None) -> str:
    """The key that was passed; else the vendor's own out of the environment, which goes to the vendor alone.

    Raises `MissingCredentialError` where the vendor's own is needed and not there.
    """
    if api_key:
        return api_key
    if base_url is not None:
        return _NO_KEY
    key = os.environ.get(variable, "")
    if not key:
        raise MissingCredentialError(f"{adapter} needs a key: set {variable}, or pass api_key=")
    check.refuse(adapter, key_fault(variable, key))
    return key


def key_fault(field: str, key: object) -> str | None:
    """A key that cannot be sent, such as one with the line break of the file that it was read from."""
    sound = key is None or (isinstance(key, str) and key.isascii() and key.isprintable() and " " not in key)
    return None if sound else f"{field} must be printable ASCII without spaces and line breaks"


def url_fault(url: object) -> str | None:
    """A base URL that no request can be sent to."""
    return None if url is None or (isinstance(url, str) and _is_url(url)) else "base_url must be an http or https URL"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # brackets that do not close, a port that is no port
        return False
    shown = url.isascii() and url.isprintable() and " " not in url
    return shown and parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
