"""Answers of compare() and whatif()."""

from __future__ import annotations

from typing import Any


class Answer(dict):  # type: ignore[type-arg]
    """The JSON of an answer as a dict; str() is the text that the command line prints."""

    def __init__(self, values: dict[str, Any], text: str):
        super().__init__(values)
        self.text = text

    def __str__(self) -> str:
        return self.text
