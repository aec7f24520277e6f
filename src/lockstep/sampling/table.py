"""The launch table: one row a launch, in program order, with what is known of each."""

import csv
import hashlib
import itertools
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from lockstep import notebook
from lockstep.errors import InputError, LockstepError
from lockstep.metrics import output
from lockstep.names import short_name
from lockstep.sampling.features import PROFILE

VERSION = 1

LIGHT = ("name", "code", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
         "shared_bytes", "registers", "stream", "arguments", "range")  # fmt: skip
BLOCKS = ("blocks", "executions")
MEMORY = ("sectors_read", "sectors_written", "new_sectors")
TIME = "time"
UNITS = ("cycles", "ns")
_TEXTS = ("name", "code", "arguments", "range")
_DEFAULTS: dict[str, Any] = {name: "" for name in _TEXTS} | {
    "grid_x": 1, "grid_y": 1, "grid_z": 1, "block_x": 1, "block_y": 1, "block_z": 1,
    "shared_bytes": 0, "registers": 0, "stream": 0,
}  # fmt: skip
MOST = 1 << 63  # counts are below, as columns hold them
MOST_COLUMNS = 1000
_VERSION, _UNIT, _SOURCE = "lockstep launch table", "unit of time", "source of time"


class LaunchTable:
    """Launches in program order, and what is known of them.

    ``frame``: a row a launch. Columns by level: 0, of every launch, ``LIGHT`` (``code`` is what
    tells kernels apart; ``shared_bytes`` are static and dynamic ones; ``arguments`` as of
    :func:`.device.arguments.described`; ``range`` the marker it is in); 1, a profile, the counters
    of ``Launch.profile``; 2, ``blocks`` and ``executions``, lists of the basic blocks that ran and
    how often; 3, ``MEMORY``, sectors of 32 bytes; 4, ``time``. What is not there is not known, nor
    is a counter that is NaN: the first launches alone may have a profile. Times are of all launches
    or of none; of level 0 only ``name`` is needed. ``unit``: of ``time``, cycles or ns; ``source``:
    where it comes from, such as "simulated, H100" or "nsys".
    """

    def __init__(self, frame: pd.DataFrame, unit: str = "cycles", source: str = ""):
        if "name" not in frame:
            raise LockstepError("a launch table has a column 'name': the kernel of each launch")
        if not len(frame):
            raise LockstepError("the launch table is empty: there is nothing to sample")
        if unit not in UNITS:
            raise LockstepError(f"the unit of time is {unit!r}; expected {' or '.join(UNITS)}")
        frame = frame.reset_index(drop=True)
        for name, default in _DEFAULTS.items():
            if name not in frame:
                frame[name] = frame["name"] if name == "code" else default
        self.frame, self.unit, self.source = frame, unit, source
        self._check()

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], **options: Any) -> Self:
        """A table from a dictionary of each launch."""
        return cls(pd.DataFrame(list(rows)), **options)

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        kernels = self.frame["code"].nunique()
        return f"<LaunchTable: {len(self)} launches of {kernels} kernels, level {self.level}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        counts = self.frame["code"].value_counts(sort=True)
        names = self.frame.groupby("code")["name"].first().to_dict()
        table = [
            {"kernel": short_name(str(names[code])), "launches": int(count)}
            for code, count in counts.items()
        ]
        return notebook.rows(repr(self)[1:-1], table)

    @property
    def level(self) -> int:
        """The highest level without times whose columns are all there: 0 to 3."""
        present = set(self.frame.columns)
        if not present.issuperset(PROFILE):
            return 0
        if present.issuperset(MEMORY):
            return 3
        return 2 if present.issuperset(BLOCKS) else 1

    @property
    def times(self) -> np.ndarray:
        """Times of all launches, float64; raises :class:`LockstepError` if they are not known."""
        if TIME not in self.frame:
            raise LockstepError("the launch table has no times, which this sampler needs")
        return self.frame[TIME].to_numpy(np.float64)

    @property
    def has_times(self) -> bool:
        """Whether times are known."""
        return TIME in self.frame

    def column(self, name: str) -> np.ndarray:
        """A column of numbers as float64; raises :class:`LockstepError` if there is none."""
        if name not in self.frame:
            raise LockstepError(f"the launch table has no column {name}, which this sampler needs")
        return self.frame[name].to_numpy(np.float64)

    def codes(self) -> np.ndarray:
        """A number of each launch's kernel, int64: kernels in the order of their first launch."""
        return pd.factorize(self.frame["code"])[0]

    def shapes(self) -> np.ndarray:
        """As :meth:`codes`, of kernels with their grid, block, shared memory and arguments."""
        columns = ["code", *LIGHT[2:9], "arguments"]
        return self.frame.groupby(columns, sort=False).ngroup().to_numpy(np.int64)

    def threads(self) -> np.ndarray:
        """Threads of each launch, float64."""
        shape = [*LIGHT[2:8]]
        return self.frame[shape].to_numpy(np.float64).prod(axis=1)

    def ctas(self) -> np.ndarray:
        """CTAs of each launch, float64."""
        return self.frame[["grid_x", "grid_y", "grid_z"]].to_numpy(np.float64).prod(axis=1)

    @cached_property
    def digest(self) -> str:
        """What a plan is made for: SHA-256 of what is launched, whatever else is known."""
        light = self.frame[list(LIGHT)]
        hashed = pd.util.hash_pandas_object(light, index=False).to_numpy()
        return hashlib.sha256(hashed.tobytes()).hexdigest()

    def without_times(self) -> "LaunchTable":
        """The same without times, as before anything was simulated."""
        return LaunchTable(self.frame.drop(columns=TIME, errors="ignore"), self.unit, self.source)

    def write(self, path: str | Path) -> None:
        """Write a file: CSV if its name ends in .csv, else Parquet."""
        frame = self.frame.copy(deep=False)
        about: dict[Any, Any] = {_VERSION: VERSION, _UNIT: self.unit, _SOURCE: self.source}
        if Path(path).suffix == ".csv":
            for column in BLOCKS:
                if column in frame:
                    frame[column] = [" ".join(map(str, values)) for values in frame[column]]
            output.write_csv(path, frame.assign(**about))
            return
        frame.attrs = about
        output.write_parquet(path, frame)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read what :meth:`write` has written; raises :class:`InputError` of anything else."""
        path = Path(path)
        try:
            frame = _csv(path) if path.suffix == ".csv" else _parquet(path)
            about = frame.attrs
            if about.get(_VERSION) != VERSION:
                found = about.get(_VERSION)
                known = f"a launch table of version {VERSION}"
                what = f"version {found}" if found else "another table, or none"
                raise InputError(path, "", f"is {what}; expected {known}")
            frame.attrs = {}
            return cls(frame, str(about[_UNIT]), str(about[_SOURCE]))
        except InputError:
            raise
        except OSError as error:
            what = f"cannot read: {error.strerror or error}"
            raise InputError(path, "", what) from error
        except LockstepError as error:
            raise InputError(path, "", str(error)) from None
        except Exception as error:  # pandas and pyarrow raise what they like
            raise InputError(path, "", f"no launch table: {_first_line(error)}") from error

    def _check(self) -> None:
        """Raise :class:`LockstepError` if a column does not hold what it should."""
        for name in LIGHT:
            column = self.frame[name]
            if name in _TEXTS:
                self.frame[name] = column.fillna("").astype(str)
                continue
            values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
            wrong = ~((values >= 0) & (values < MOST) & (values == np.floor(values)))
            if wrong.any():
                k = int(wrong.argmax())
                found = repr(column.tolist()[k])[:60]
                raise LockstepError(f"launch {k}: {name} is {found}; expected a count")
            self.frame[name] = values.astype(np.int64)
        for name in (*PROFILE, *MEMORY, TIME):
            if name not in self.frame:
                continue
            values = pd.to_numeric(self.frame[name], errors="coerce").to_numpy(np.float64)
            wrong = ~(values > 0) if name == TIME else values < 0
            wrong |= np.isinf(values)
            if wrong.any():
                k = int(wrong.argmax())
                found = repr(self.frame[name].tolist()[k])[:60]
                expected = "a positive number" if name == TIME else "a count"
                raise LockstepError(f"launch {k}: {name} is {found}; expected {expected}")
            self.frame[name] = values


def _csv(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8", newline="") as file:
        widths = [len(row) for row in itertools.islice(csv.reader(file), 2)]
    if max(widths, default=0) > MOST_COLUMNS:  # each costs pandas as much as all others
        raise LockstepError(f"has more than {MOST_COLUMNS} columns: no launch table")
    if widths[1:] > widths[:1]:  # pandas takes what is too much for an index of so many levels
        raise LockstepError(f"line 2 has {widths[1]} fields where line 1 names {widths[0]}")
    frame = pd.read_csv(path, keep_default_na=False, dtype=dict.fromkeys(_TEXTS, str))
    about = [_VERSION, _UNIT, _SOURCE]
    if set(about).issubset(frame.columns):
        values: dict[Any, Any] = {name: frame[name].iloc[0] for name in about}
        frame = frame.drop(columns=about)
        frame.attrs = values | {_VERSION: int(values[_VERSION])}
    for column in BLOCKS:
        if column in frame:
            lists = [np.array(text.split(), np.int64) for text in frame[column].map(str)]
            frame[column] = pd.Series(lists, dtype=object)
    return frame


def _parquet(path: Path) -> pd.DataFrame:
    if not output.has_parquet():
        raise LockstepError(output.NO_PARQUET)
    with path.open("rb") as file:  # pyarrow says less of what cannot be opened, and reads folders
        return pd.read_parquet(file, engine="pyarrow")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
