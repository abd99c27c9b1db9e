"""Errors, with the messages of the command line; `status` is its exit status (docs/cli.md)."""

from __future__ import annotations


class Error(Exception):
    """Something could not be done; the message says what is wrong, where, and what to do.

    `status` is the exit status of the command line for this error.
    """

    status = 125


class UsageError(Error, ValueError):
    """A wrong argument: a table, column, rank, step or change that does not exist."""

    status = 2


class UnreadableError(Error, OSError):
    """The input is missing, empty, not a recording, or from a newer version of rankscope."""

    status = 3

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class CannotTellError(Error):
    """The input was read, but it lacks the data to answer the question. This is never the same as "no problem found"."""

    status = 4


class CannotWriteError(Error, OSError):
    """The output cannot be written."""

    status = 5

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


_BY_STATUS = {kind.status: kind for kind in (UsageError, UnreadableError, CannotTellError, CannotWriteError)}


def error_for(status: int, message: str) -> Error:
    """The exception for a status of the C interface."""
    return _BY_STATUS.get(status, Error)(message)
