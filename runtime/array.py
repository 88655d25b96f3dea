"""Our array class and its concrete kinds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.errors import StagingError
from overt.runtime.operators import Operators, functions
from overt.runtime.transfers import transferred


class Array(Operators):
    """An array: concrete on a device, or standing for a value of a program or transformation.

    >>> import overt.numpy as np
    >>> np.array([1.0, 2.0]) + 1
    Array([2., 3.], dtype=float32)
    """

    __slots__ = ("__weakref__",)

    level = 0
    transparent = False  # whether its truth is that of its `primal`
    __array_priority__ = 100

    def again(self) -> Any:
        """The same numbers as another object, so that the two are not taken for one."""
        new = object.__new__(type(self))
        for cls in type(self).__mro__:
            for name in getattr(cls, "__slots__", ()):
                if name != "__weakref__" and hasattr(self, name):
                    setattr(new, name, getattr(self, name))
        return new

    def __copy__(self) -> Array:
        return self.again()

    def __deepcopy__(self, memo: dict) -> Array:
        return self.again()

    def __hash__(self) -> int:
        from overt.runtime.staging import is_known

        way_out = (
            "use the number it holds: `bool(x > 0)`, `int(k)` or `k.item()`"
            if is_known(self)
            else "its number is known only when the program runs; make the dictionary with all "
            "its keys, `{k: 0.0 for k in range(n)}`, or use a list"
        )
        raise TypeError(
            f"unhashable type: {type(self).__name__!r}: an array is no key of a dictionary and no "
            f"member of a set; {way_out}"
        )

    # ---- what is known without the numbers ----

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak

    @property
    def itemsize(self) -> int:
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.aval.size * self.aval.dtype.itemsize

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of unsized object")
        return self.aval.shape[0]

    # ---- what transformations provide ----

    def handle(self, primitive: Any, operands: tuple, params: dict) -> Any:
        """Apply a primitive at this value's level."""
        raise NotImplementedError(type(self).__name__)

    def handle_composite(self, function: Any, operands: tuple, static: dict) -> Any:
        """Apply a composite by its own rule; NotImplemented: run its body instead."""
        return NotImplemented

    def concrete(self, purpose: str) -> DeviceArray:
        """This value as a concrete array, or an error that says what needed it."""
        raise StagingError(f"{purpose} needs the value of an array that is not known yet")

    def numbers(self, purpose: str = "reading the numbers") -> np.ndarray:
        """This value's numbers, or an error that says what needed them."""
        return self.concrete(purpose).numbers()

    # ---- Python values ----

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numbers("converting to a NumPy array")
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def _scalar(self, purpose: str) -> np.ndarray:
        if self.aval.size != 1:
            raise TypeError(
                f"{purpose} needs an array of one element, got one of shape {self.shape}"
            )
        return self.numbers(purpose).reshape(())

    def __bool__(self) -> bool:
        if self.aval.size != 1:
            raise ValueError(
                f"the truth value of an array of shape {self.shape} is ambiguous; "
                "use .any() or .all()"
            )
        return bool(self._scalar("bool()"))

    def __int__(self) -> int:
        return int(self._real("int()"))

    def __float__(self) -> float:
        return float(self._real("float()"))

    def _real(self, purpose: str) -> np.ndarray:
        if dtypes.is_complex(self.dtype):
            raise TypeError(f"{purpose} of a complex array; take .real first")
        return self._scalar(purpose)

    def __complex__(self) -> complex:
        return complex(self._scalar("complex()"))

    def __index__(self) -> int:
        if self.aval.shape or not dtypes.is_integer(self.dtype):
            raise TypeError(f"only integer scalar arrays can be an index, got {self.aval}")
        return int(self._scalar("an index"))

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None and self.aval.shape == ():
            return int(functions["round"](self))
        return functions["round"](self, ndigits or 0)

    def __trunc__(self) -> int:
        return int(self)

    def __floor__(self) -> int:
        return int(functions["floor"](self))

    def __ceil__(self) -> int:
        return int(functions["ceil"](self))

    def item(self, *args: int) -> Any:
        """One element as a Python number."""
        if args:
            return self.numbers("item()").item(*args)
        if self.aval.size != 1:
            raise ValueError(f"item() needs an array of one element, got shape {self.shape}")
        return self._scalar("item()").item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self.numbers("tolist()").tolist()

    def tobytes(self, order: str = "C") -> bytes:
        return self.numbers("tobytes()").tobytes(order)  # type: ignore[arg-type]

    # ---- elements ----

    def __getitem__(self, index: Any) -> Any:
        return functions["getitem"](self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "arrays are immutable: outside transformed functions write x = x.at[index].set(value) "
            "instead of x[index] = value"
        )

    def __delitem__(self, index: Any) -> None:
        raise TypeError("arrays are immutable: use np.delete(x, index) instead of del x[index]")

    @property
    def at(self) -> Any:
        """`x.at[index].set(value)`, `.add(value)`, ...: a changed copy."""
        from overt.runtime.updates import At

        return At(self)

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.aval.shape[0]))

    def __reversed__(self) -> Iterator[Any]:
        return (self[i] for i in reversed(range(len(self))))

    def __contains__(self, item: Any) -> bool:
        return bool(functions["any"](functions["equal"](self, item)))

    def block_until_ready(self) -> Array:
        return self

    # ---- protocols ----

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        import overt.runtime.numpy as functions
        from overt.runtime.numpy.namespace import api_versions

        if api_version is not None and api_version not in api_versions:
            raise ValueError(
                f"version {api_version!r} of the array API standard is not known; "
                f"{', '.join(api_versions)} are"
            )
        return sys.modules.get("overt.numpy", functions)  # the face, where it is in use

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from overt.runtime import protocols

        return protocols.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from overt.runtime import protocols

        return protocols.array_function(function, args, kwargs)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:  # fmt: skip
        return self.concrete("DLPack").__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.concrete("DLPack").__dlpack_device__()

    def __format__(self, spec: str) -> str:
        if self.aval.shape == ():
            return format(self._scalar("formatting").item() if spec else str(self), spec)
        if spec:
            raise TypeError(f"format {spec!r} is for scalars, not an array of shape {self.shape}")
        return str(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.aval})"


class DeviceArray(Array):
    """An array on the default device."""

    __slots__ = ("buffer", "aval", "_numbers")
    buffer: Any
    _numbers: np.ndarray
    committed = False

    def __init__(self, buffer: Any, aval: Aval):
        self.buffer = buffer
        self.aval = aval

    def concrete(self, purpose: str) -> DeviceArray:
        return self

    def numbers(self, purpose: str = "") -> np.ndarray:
        """The numbers as a read-only ndarray, kept."""
        try:
            return self._numbers
        except AttributeError:
            from overt.backend.execute import to_numpy

            if self.is_deleted():
                raise gone(self) from None
            if self.device.platform != "cpu":  # there, numbers are in the host's memory
                transferred("device_to_host", self.aval)
            self._numbers = found = to_numpy(self.buffer, self.aval)
            return found

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        from overt.runtime.interop import placed

        aval = Aval(self.aval.shape[1:], self.aval.dtype, self.aval.weak)
        where = None if type(self) is DeviceArray else self.device
        return (placed(row, aval, where, self.committed) for row in self.numbers())

    @property
    def device(self) -> Any:
        from overt.backend.client import default_device

        return default_device()

    def devices(self) -> set:
        """The devices this array lives on."""
        return {self.device}

    @property
    def sharding(self) -> Any:
        """How the array is laid out over devices."""
        from overt.backend.execute import placement

        return placement(self.device)

    is_fully_addressable = True

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array on another device."""
        from overt.runtime.interop import device_put

        return device_put(self, device)

    def block_until_ready(self) -> DeviceArray:
        """Wait for the numbers; this array."""
        if self.is_deleted():
            raise gone(self)
        self.buffer.block_until_ready()
        return self

    def copy_to_host_async(self) -> None:
        """Start copying the numbers to the host; on CPU they are there."""
        if self.device.platform != "cpu":
            self.buffer._copy_single_device_array_to_host_async()

    def is_ready(self) -> bool:
        return self.buffer.is_ready()

    def is_deleted(self) -> bool:
        return self.buffer.is_deleted()

    def delete(self) -> None:
        """Free the device memory; shared with ndarrays, it lives as long as they do."""
        self.buffer.delete()
        if hasattr(self, "_numbers"):
            del self._numbers

    def unsafe_buffer_pointer(self) -> int:
        return self.buffer.unsafe_buffer_pointer()

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:  # fmt: skip
        from overt.backend.execute import to_dlpack

        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) != here:
            if copy is False or tuple(dl_device) != (1, 0):
                raise BufferError(
                    f"an array on DLPack device {here} cannot be given as {dl_device}"
                )
            return np.array(self).__dlpack__()
        if copy:
            return _restored(np.array(self), self.aval.weak).__dlpack__(stream=stream)
        self.block_until_ready()
        return to_dlpack(self.buffer, stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        platform = self.device.platform
        return (1, 0) if platform == "cpu" else (2, self.device.local_hardware_id)

    def __reduce__(self) -> tuple:
        return _restored, (np.array(self), self.aval.weak)

    def __copy__(self) -> DeviceArray:
        return self

    def __deepcopy__(self, memo: dict) -> DeviceArray:
        return _restored(np.array(self), self.aval.weak)

    def __str__(self) -> str:
        return str(self.numbers())

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.aval.weak else ""
        kind = f"dtype={self.aval.dtype.name}{weak})"
        if self.is_deleted() and not hasattr(self, "_numbers"):
            return f"Array(<deleted>, shape={self.shape}, {kind}"
        width = np.get_printoptions()["linewidth"]
        if self.size:
            text = np.array2string(
                self.numbers(), prefix="Array(", suffix=",", separator=", ", max_line_width=width
            )
        else:
            text = f"[], shape={self.shape}"
        last = len(text) - text.rfind("\n") + 1
        gap = "\n      " if last + len(kind) + 1 > width else " "
        return f"Array({text},{gap}{kind}"


def gone(x: DeviceArray) -> RuntimeError:
    """The error for using an array whose memory was given away."""
    return RuntimeError(
        f"Array has been deleted with shape={x.aval}: it was donated to a compiled function, whose "
        "results have its memory now, or deleted; to keep an array, donate a copy (np.copy)"
    )


def explained(error: Exception, arrays: Iterable[Any]) -> Exception:
    """The error of a run as one about its arrays, if one of them is what was wrong."""
    for x in arrays:
        if isinstance(x, DeviceArray) and x.is_deleted():
            return gone(x)
    if "donate the same buffer twice" in str(error):
        return ValueError(
            "the same array is donated twice in one call: its memory can be given away once; "
            "donate a copy (np.copy)"
        )
    if "previously donated in the same call" in str(error):
        return ValueError(
            "the same array is given twice, and donated once: its memory cannot both be used and "
            "be given away; donate a copy (np.copy)"
        )
    return error


class PlacedArray(DeviceArray):
    """An array on a chosen device; committed when the user chose it."""

    __slots__ = ("_device", "committed")

    def __init__(self, buffer: Any, aval: Aval, device: Any, committed: bool = True):
        self.buffer = buffer
        self.aval = aval
        self._device = device
        self.committed = committed

    @property
    def device(self) -> Any:
        return self._device


def _restored(numbers: np.ndarray, weak: bool) -> DeviceArray:
    from overt.runtime.interop import placed

    dtype = dtypes.canonicalize(numbers.dtype)
    aval = Aval(numbers.shape, dtype, weak)
    return placed(numbers, aval)
