"""A run as a folder of Parquet files, one per table."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, Iterable

from ._errors import CannotTellError, CannotWriteError, UsageError
from ._table import tables

if TYPE_CHECKING:
    from ._run import Ranks, Run, Steps

_MARK = "_rankscope_tables"  # in folders that an earlier export made, which may be replaced
_VERSION = "1"  # of the tables, as `PRAGMA user_version` of the SQLite export


def _check_target(out: pathlib.Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is a file; give a folder to write")
    if any(out.iterdir()) and not (out / _MARK).exists():
        raise UsageError(f"{out} is not empty and was not written by an earlier export to Parquet; choose another folder, or remove it first")
    ours = {_MARK, *(f"{name}.parquet" for name in tables())}
    for path in sorted(out.iterdir()):
        if path.name not in ours or path.is_symlink() or not path.is_file():
            raise UsageError(f"{path} was not written by rankscope and would be removed with the earlier export; move it away, or choose another folder")


def _write(run: Run, folder: pathlib.Path, steps: Steps, ranks: Ranks, wanted: Iterable[str] | None) -> list[str]:
    import pyarrow
    import pyarrow.parquet
    written = []
    described = tables()
    for name in described if wanted is None else wanted:
        chosen: dict[str, Any] = {"steps": steps, "ranks": ranks}
        if wanted is None:  # a table such as strings is of the whole run
            chosen = {by: value for by, value in chosen.items() if by in described[name]["chosen_by"]}
        try:
            table = run.table(name, **chosen)
        except CannotTellError:
            if wanted is not None:
                raise
            continue  # the table "missing" has the reason
        arrow = pyarrow.table(table)
        arrow = arrow.replace_schema_metadata({"rankscope.table": name, "rankscope.tables_version": _VERSION})
        pyarrow.parquet.write_table(arrow, folder / f"{name}.parquet", compression="zstd")
        written.append(name)
    (folder / _MARK).write_text(f"{_VERSION}\n")
    return written


def write_parquet(run: Run, out: str | os.PathLike[str], steps: Steps, ranks: Ranks, wanted: Iterable[str] | None) -> list[str]:
    """Writes beside the target and renames, so that the folder appears complete or not at all."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise CannotWriteError("Parquet is written by pyarrow, which is not installed; run: pip install 'rankscope[parquet]'") from None
    target = pathlib.Path(out)
    _check_target(target)
    try:
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.resolve().parent))
    except OSError as problem:
        raise CannotWriteError(f"cannot write {target}: {problem.strerror}") from None
    try:
        os.chmod(scratch, 0o755)
        written = _write(run, scratch, steps, ranks, wanted)
        if target.exists():
            shutil.rmtree(target)
        os.rename(scratch, target)
    except OSError as problem:
        raise CannotWriteError(f"cannot write {target}: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return written
