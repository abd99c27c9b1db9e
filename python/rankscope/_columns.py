"""Columns of anybody's table as Python values."""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping

from ._errors import UsageError


#: Bounds of whole numbers, both included; of others those of 64 bits.
_BOUNDS = {"rank": (0, (1 << 24) - 1), "peer": (-1, (1 << 24) - 1), "step": (0, (1 << 62) - 1), "sequence": (0, (1 << 62) - 1),
           "bytes": (0, (1 << 62) - 1), "stream": (0, (1 << 31) - 1), "micro_batch": (-(1 << 31), (1 << 31) - 1),
           "chunk": (-(1 << 31), (1 << 31) - 1)}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def _check_names(names: Iterable[Any]) -> None:
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise UsageError(f"the table has two columns {name!r}; rename or remove one of them")
        seen.add(name)


def _is_missing(value: Any) -> bool:
    """None, NaN, and pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _as_lists(table: Any) -> dict[str, list[Any]]:
    """{column: values} of pandas, polars, pyarrow, DuckDB, or a mapping."""
    if isinstance(table, Mapping):
        _check_names(table)
        return {str(name): list(values) for name, values in table.items()}
    module = type(table).__module__.split(".")[0]
    if not hasattr(table, "collect"):  # a lazy frame has each name once
        names = getattr(table, "column_names", None)
        _check_names(getattr(table, "columns", ()) if names is None else names)
    if module == "pandas":
        return {str(name): table[name].tolist() for name in table.columns}
    if module == "polars":
        if hasattr(table, "collect"):
            table = table.collect()
        return dict(table.to_dict(as_series=False))
    if hasattr(table, "to_pydict"):
        return dict(table.to_pydict())
    if hasattr(table, "fetchall") and hasattr(table, "columns"):
        rows = table.fetchall()
        return {str(name): [row[i] for row in rows] for i, name in enumerate(table.columns)}
    if hasattr(table, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            raise UsageError(f"a {type(table).__name__} can only be read by pyarrow, which is not installed; run: pip install pyarrow") from None
        return dict(pyarrow.table(table).to_pydict())
    raise UsageError(f"a table must be from pandas, polars, pyarrow or DuckDB, or a mapping of column names to values (is {type(table).__name__})")


class Columns:
    """The columns that are understood, by their own names. A value of None or NaN is missing."""

    def __init__(self, table: Any, names: Mapping[str, str], known: tuple[str, ...], attributes: tuple[str, ...]):
        found = _as_lists(table)
        for name in names:
            if name not in known:
                raise UsageError(f"columns: {name!r} is not a known column; choose from: {', '.join(known)}")
        lengths = {len(values) for values in found.values()}
        if len(lengths) > 1:
            raise UsageError(f"the columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
        self.rows = next(iter(lengths), 0)
        self._values: dict[str, list[Any]] = {}
        for name in (*known, *attributes):
            column = names.get(name, name)
            if column in found:
                self._values[name] = found[column]
            elif name in names or name in attributes:
                raise UsageError(f"the table has no column {column!r}; it has: {', '.join(found)}")
        for name in ("rank", "name", "start"):
            if name not in self._values:
                raise UsageError(f"the table has no column {name!r}; it has: {', '.join(found)}. Name it: columns={{{name!r}: ...}}")
        if "duration" not in self._values and "end" not in self._values:
            raise UsageError("the table must have a column 'duration' or 'end'")

    def value(self, name: str, row: int) -> Any:
        """None if the column or the value is missing; numbers as int where they are whole."""
        values = self._values.get(name)
        value: Any = None if values is None else values[row]
        if hasattr(value, "item"):
            value = value.item()
        if _is_missing(value):
            return None
        if isinstance(value, int) and not isinstance(value, bool) and not _LEAST <= value <= _MOST:
            raise UsageError(f"row {row}: {name} is {str(value)[:40]}, which has more than 64 bits")
        return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _MOST else value

    def text(self, name: str, row: int) -> str | None:
        value = self.value(name, row)
        return None if value is None else str(value)

    def whole(self, name: str, row: int) -> int | None:
        value = self.value(name, row)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"row {row}: {name} must be a whole number (is {value!r})")
        least, most = _BOUNDS.get(name, (_LEAST, _MOST))
        if not least <= value <= most:
            raise UsageError(f"row {row}: {name} must be from {least} to {most} (is {value})")
        return value

    def number(self, name: str, row: int) -> float | None:
        value = self.value(name, row)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UsageError(f"row {row}: {name} must be a number (is {value!r})")
        return value
