"""Tables of Arrow without pyarrow: capsules for consumers, and an own reader for to_pydict() and to_pandas()."""

from __future__ import annotations

import ctypes
from typing import Any

from ._errors import Error
from ._library import ArrowArray, ArrowSchema, Handle, new_stream

_CAPSULE_NAME = b"arrow_array_stream"
_NUMBERS = {"l": (ctypes.c_int64, "int64"), "i": (ctypes.c_int32, "int32"), "g": (ctypes.c_double, "float64")}
_api = ctypes.PyDLL(None)  # not ctypes.pythonapi, whose types all packages share
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_streams: dict[int, Any] = {}  # by address; a consumer moves what is in it, the structure itself is ours


def _release(capsule: int) -> None:
    stream = _streams.pop(_api.PyCapsule_GetPointer(capsule, _CAPSULE_NAME), None)
    if stream is not None and stream.release:
        stream.release(ctypes.byref(stream))


_destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_release)
# A capsule may outlive this module when the interpreter ends.
for _kept in (_destroy, _CAPSULE_NAME):
    _api.Py_IncRef(ctypes.py_object(_kept))


def stream_capsule(table: Handle) -> Any:
    """A capsule `arrow_array_stream` of a table handle; the columns live as long as anything that was made from it."""
    stream = new_stream(table)
    address = ctypes.addressof(stream)
    _streams[address] = stream
    return _api.PyCapsule_New(address, _CAPSULE_NAME, ctypes.cast(_destroy, ctypes.c_void_p))


class Batch:
    """All rows of a table as Arrow arrays, released with this object."""

    def __init__(self, table: Handle):
        self._schema, self._array = ArrowSchema(), ArrowArray()
        stream = new_stream(table)
        try:
            if stream.get_schema(ctypes.byref(stream), ctypes.byref(self._schema)) or stream.get_next(ctypes.byref(stream), ctypes.byref(self._array)):
                raise Error((stream.get_last_error(ctypes.byref(stream)) or b"the table cannot be read").decode())
        finally:
            stream.release(ctypes.byref(stream))
        self.columns = {self._schema.children[i].contents.name.decode(): Column(self, i) for i in range(self._array.n_children)}

    def __del__(self) -> None:
        for one in (self._array, self._schema):
            if one.release:
                one.release(ctypes.byref(one))


class Column:
    """One column of a batch, read where it lies."""

    def __init__(self, batch: Batch, place: int):
        # Not the batch itself: it holds its columns.
        self._array = batch._array.children[place].contents
        schema = batch._schema.children[place].contents
        self.format = schema.format.decode()
        self.is_dictionary = bool(schema.dictionary)
        self.length, self.missing = self._array.length, self._array.null_count

    def _buffer(self, place: int, kind: Any, count: int, array: Any = None) -> Any:
        array = self._array if array is None else array
        return (kind * count).from_address(array.buffers[place]) if count else (kind * 0)()

    def _texts(self, array: Any, count: int) -> list[str]:
        offsets = self._buffer(1, ctypes.c_int64, count + 1, array)
        characters = ctypes.string_at(array.buffers[2], offsets[count]) if offsets[count] else b""
        return [characters[offsets[i]:offsets[i + 1]].decode() for i in range(count)]

    def categories(self) -> list[str]:
        """What the places of a dictionary column mean."""
        dictionary = self._array.dictionary.contents
        return self._texts(dictionary, dictionary.length)

    def _plain(self, count: int) -> list[Any]:
        if self.format == "U":
            return self._texts(self._array, count)
        if self.format == "b":
            bits = self._buffer(1, ctypes.c_uint8, (count + 7) // 8)
            return [bool(bits[i // 8] >> (i % 8) & 1) for i in range(count)]
        values = list(self._buffer(1, _NUMBERS[self.format][0], count))
        if self.is_dictionary:
            words = self.categories()
            return [words[value] if words else None for value in values]
        return values

    def to_list(self, most: int | None = None) -> list[Any]:
        """The values, or the first of them; None where one is missing."""
        count = self.length if most is None else min(most, self.length)
        values = self._plain(count)
        if self.missing == 0:
            return values
        valid = self._buffer(0, ctypes.c_uint8, (count + 7) // 8)
        return [value if valid[i // 8] >> (i % 8) & 1 else None for i, value in enumerate(values)]

    def missing_mask(self, numpy: Any) -> Any:
        """True where a value is missing; None: nowhere."""
        if self.missing == 0:
            return None
        valid = numpy.frombuffer(self._buffer(0, ctypes.c_uint8, (self.length + 7) // 8), dtype=numpy.uint8)
        return numpy.unpackbits(valid, count=self.length, bitorder="little") == 0

    def to_pandas(self, numpy: Any, pandas: Any, owner: Any) -> Any:
        """A pandas array; columns of numbers without missing values are views of the table, which `owner` keeps alive."""
        missing = self.missing_mask(numpy)
        if self.format == "U":
            return pandas.array(self.to_list(), dtype="string")  # "str" of pandas 2 has no missing values
        if self.format == "b":
            bits = numpy.frombuffer(self._buffer(1, ctypes.c_uint8, (self.length + 7) // 8), dtype=numpy.uint8)
            flags = numpy.unpackbits(bits, count=self.length, bitorder="little").astype(bool)
            return flags if missing is None else pandas.arrays.BooleanArray(flags, missing)
        kind, dtype = _NUMBERS[self.format]
        buffer = self._buffer(1, kind, self.length)
        buffer.owner = owner
        values = numpy.frombuffer(buffer, dtype=dtype)
        values.flags.writeable = False  # other frames and tables share them
        if self.is_dictionary:
            codes = values if missing is None else numpy.where(missing, -1, values)
            return pandas.Categorical.from_codes(codes, categories=self.categories())
        if missing is None:
            return values
        if dtype == "float64":
            return numpy.where(missing, numpy.nan, values)
        return pandas.arrays.IntegerArray(values.copy(), missing)

