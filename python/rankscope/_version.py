"""The version of the library that is loaded."""

from __future__ import annotations

from ._errors import Error
from ._library import library


def _version() -> str:
    try:
        return str(library().rankscope_version().decode())
    except Error:
        return "unknown"  # reported by the first call that needs the library


__version__ = _version()
