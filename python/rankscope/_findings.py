"""Findings and slow ranks with their types."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

_Record = TypeVar("_Record")


def records(kind: type[_Record], columns: dict[str, list[Any]]) -> list[_Record]:
    """One object per row; columns that the type does not have are those of a newer library."""
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return [kind(*row) for row in zip(*(columns[name] for name in names))]


@dataclasses.dataclass(frozen=True)
class Finding:
    """One problem, with the evidence, the advice and the time that a fix would save (docs/findings.md)."""

    id: str
    severity: str  #: critical, major, minor or info
    title: str
    evidence: str
    advice: str
    gain_ns_per_step: int | None  #: None: the time that a fix would save is not known
    rank: int | None
    step: int | None
    certainty: str | None  #: fact, of_two, of_three or few_steps; None: the finding does not compare ranks


@dataclasses.dataclass(frozen=True)
class SlowRank:
    """A rank whose own time is longer than that of its peers (docs/metrics.md, 9)."""

    rank: int
    kind: str  #: compute, host, data, network, memory or mixed
    persistence: str  #: persistent or transient
    certainty: str
    severity: str
    slowdown: float  #: own time divided by the median own time of the peers
    lag_ns_per_step: int
    gain_ns_per_step: int | None  #: None: the time that a fix would save is not known
    evidence: str


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The answer of a report in sentences, and the doubts about it."""

    sentences: tuple[str, ...]
    doubts: tuple[str, ...]
    computed: bool  #: False: nothing could be computed; this is not the same as "no problem found"

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentences, and the doubts that they do not contain."""
        return (*self.sentences, *(doubt for doubt in self.doubts if doubt not in self.sentences))

    def __str__(self) -> str:
        return "\n".join(self.lines)
