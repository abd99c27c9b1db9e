"""Tables of a run."""

from __future__ import annotations

import html
import json
from typing import Any

from ._arrow import Batch, stream_capsule
from ._errors import Error, UsageError
from ._library import Handle, library, take_text


def tables() -> dict[str, dict[str, Any]]:
    """All tables that Run.table() can read: {"spans": {"row": "what a row is", "chosen_by": ["ranks", "steps"],
    "columns": {"name": "type"}}, ...}. "chosen_by" says which of `ranks` and `steps` can choose rows of the table.

    Types are int32, int64, double, bool and string; "?" after a type says that a value may be missing ("not recorded").
    docs/sqlite.md explains every column.
    """
    text = take_text(library().rankscope_tables())
    if not text:
        raise Error("there is not enough memory")
    return {table["name"]: {"row": table["row"], "chosen_by": table["chosen_by"],
                            "columns": {column["name"]: column["type"] + ("?" if column["nulls"] else "") for column in table["columns"]}}
            for table in json.loads(text)}


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(str(value))


def _missing(package: str, problem: ImportError) -> UsageError:
    return UsageError(f"this needs {package}: run pip install {package} ({problem}); to_pydict() needs no other package")


class Table:
    """A table of a run in Arrow's layout: polars, DuckDB, pandas and pyarrow can read it directly.

    `polars.DataFrame(table)`, `duckdb.sql("FROM spans")` (for a variable `spans`), `pyarrow.table(table)` and `table.to_pandas()` share the columns of
    numbers with this object and do not copy them. Times are int64 nanoseconds of run time.
    """

    def __init__(self, name: str, handle: Handle):
        self.name = name
        self._handle = handle

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule interface; may be called several times. `requested_schema` is not used."""
        return stream_capsule(self._handle)

    def __len__(self) -> int:
        """The number of rows."""
        with self._handle as pointer:
            return int(library().rankscope_table_rows(pointer))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(Batch(self._handle).columns)

    def to_pydict(self) -> dict[str, list[Any]]:
        """{column: values}, None where a value is missing. Needs no other package."""
        batch = Batch(self._handle)
        return {name: column.to_list() for name, column in batch.columns.items()}

    def head(self, most: int = 5) -> dict[str, list[Any]]:
        """The first rows, as to_pydict() shows them."""
        batch = Batch(self._handle)
        return {name: column.to_list(most) for name, column in batch.columns.items()}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame (`pip install 'rankscope[pandas]'`).

        Strings with few different values are categories; integers that may be missing are Int32 or Int64. Columns of numbers share the memory of the table and are read-only; to change values, use `table.to_pandas().copy()`.
        """
        try:
            import numpy
            import pandas
        except ImportError as problem:
            raise _missing("pandas", problem) from None
        batch = Batch(self._handle)
        return pandas.DataFrame({name: column.to_pandas(numpy, pandas, batch) for name, column in batch.columns.items()}, copy=False)

    def to_polars(self) -> Any:
        """A polars.DataFrame (`pip install 'rankscope[polars]'`)."""
        try:
            import polars
        except ImportError as problem:
            raise _missing("polars", problem) from None
        return polars.DataFrame(self)

    def to_pyarrow(self) -> Any:
        """A pyarrow.Table (`pip install 'rankscope[parquet]'`)."""
        try:
            import pyarrow
        except ImportError as problem:
            raise _missing("pyarrow", problem) from None
        return pyarrow.table(self)

    def __repr__(self) -> str:
        count = len(self)
        return f"<rankscope.Table {self.name}: {count} row{'' if count == 1 else 's'}, columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        most = 10
        values = self.head(most)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in values)
        rows = zip(*values.values())
        body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
        more = f"<p>{len(self)} rows; the first {most} are shown</p>" if len(self) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
