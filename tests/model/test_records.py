"""Arrays of the model's state: zeroed, aligned, apart from each other."""

import errno
import gc
import itertools
import mmap
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.model import records as records_module
from lockstep.model.cache.tags import WAY
from lockstep.model.dram.state import SLOT, UNIT
from lockstep.model.memory import ENTRY
from lockstep.model.records import full, one_space, records, zeros

RECORD = np.dtype([("a", "i8"), ("b", "i4", (3,))])
CACHE_LINE = 64


def _address(array):
    return array.__array_interface__["data"][0]


def _build():
    return [records((3, 5), RECORD), zeros(7), full((4, 2), -1), records(1, RECORD), zeros((0, 4))]


@pytest.mark.parametrize("together", [False, True])
def test_arrays_are_zeroed_aligned_and_apart(together):
    if together:
        with one_space():
            arrays = _build()
    else:
        arrays = _build()
    assert [a.shape for a in arrays] == [(3, 5), (7,), (4, 2), (1,), (0, 4)]
    assert all(_address(a) % CACHE_LINE == 0 for a in arrays)
    assert (arrays[2] == -1).all() and not arrays[1].any() and not arrays[0].view(np.uint8).any()
    arrays[0].a[1, 2], arrays[0][2, 4].b = 9, (1, 2, 3)
    assert arrays[0]["a"].sum() == 9 and arrays[0][2, 4]["b"].tolist() == [1, 2, 3]
    spans = sorted((_address(a), a.nbytes) for a in arrays)
    assert all(x + size <= y for (x, size), (y, _) in itertools.pairwise(spans))


@pytest.mark.parametrize("make", [records, lambda n, kind: as_records(np.zeros(n, kind))])
def test_records_are_the_memory_of_their_array_however_they_are_looked_at(make):
    array = make(4, RECORD)
    array["a"] = range(4)
    assert [record.a for record in array] == [0, 1, 2, 3]
    array[1].a, part = 7, array[1:3]
    part[1].a, part[0].b = 8, (4, 5, 6)
    assert array.a.tolist() == [0, 7, 8, 3] and array["b"][1, 2] == 6
    assert [int(x) for x in array["a"][2:]] == [8, 3]
    array[3] = (1, (2, 3, 4))
    assert array[3].a == 1 and array[-1].b.tolist() == [2, 3, 4]


@pytest.mark.parametrize("look", [lambda record: None, lambda record: record.a])
def test_a_record_has_no_other_fields(look):
    record = records(1, RECORD)[0]
    look(record)
    with pytest.raises(AttributeError, match=r"no (field|attribute) 'c'"):
        record.c = 1
    with pytest.raises(AttributeError, match=r"no (field|attribute) 'c'"):
        assert record.c


def test_memory_of_records_is_free_when_nobody_has_them():
    array = records(4, RECORD)
    memory = weakref.ref(array.base)
    parts = [array[1:3], array["a"], array[0], array.b]
    gc.disable()
    try:
        assert parts[0][1].a == parts[1][2] == parts[2].a == 0
        del array, parts
        assert memory() is None
    finally:
        gc.enable()


def test_little_arrays_share_pages_and_no_line():
    with one_space():
        arrays = [zeros(3) for _ in range(40)] + [zeros(1 << 12)] + [zeros(5) for _ in range(2000)]
    for k, array in enumerate(arrays):
        array[:] = k
    assert all((array == k).all() for k, array in enumerate(arrays))
    little = [_address(a) for a in arrays if len(a) < 1 << 12]
    assert all(place % CACHE_LINE == 0 for place in little)
    assert len({place // mmap.PAGESIZE for place in little[:40]}) <= 40 * CACHE_LINE // 4096 + 2
    assert arrays[-1].base is arrays[0].base, "one space"


def test_large_pages_hold_what_small_ones_held():
    with one_space() as space:
        array, untouched = zeros(1 << 20), zeros(1 << 20)
    array[:] = np.arange(len(array))
    most = (array.nbytes + untouched.nbytes) // records_module._LARGE_PAGE
    assert 0 <= space.use_large_pages() <= most
    assert (array == np.arange(len(array))).all() and not untouched.any()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="of Linux")
def test_what_is_used_little_stays_in_small_pages():
    size, page = records_module._LARGE_PAGE, mmap.PAGESIZE
    pages = records_module._pages(4 * size)
    address = np.frombuffer(pages, np.uint8).ctypes.data
    begin = -address % size
    for large, small in ((0, 30), (1, 300)):
        for k in range(small):
            pages[begin + large * size + k * page] = 1
    shares = [records_module._touched(address + begin + k * size) for k in range(3)]
    assert shares == [30 * page / size, 300 * page / size, 0]
    assert records_module._collapse(pages, address) <= 1
    assert records_module._touched(address + begin) == shares[0]


def test_without_free_large_pages_small_ones_stay(monkeypatch):
    asked = []
    monkeypatch.setattr(records_module, "_touched", lambda address: 1.0)

    class Pages:
        def __len__(self):
            return 5 * records_module._LARGE_PAGE

        def madvise(self, advice, start, length):
            asked.append((start, length))
            if len(asked) != 1:
                raise OSError(errno.EINVAL if len(asked) == 2 else errno.ENOMEM, "")

    size = records_module._LARGE_PAGE
    assert records_module._collapse(Pages(), 7 * size - 4096) == 1
    assert asked == [(4096, size), (4096 + size, size), (4096 + 2 * size, size)]


NESTED = np.dtype([("n", "i8"), ("inner", [("x", "i8"), ("y", "i8")])])


def test_fields_and_columns_are_attributes_that_can_be_written():
    array = records(2, NESTED)
    array.n = 7
    array[1].n, array[1].inner.y = 8, 9
    assert array.n.tolist() == [7, 8] and array["inner"]["y"].tolist() == [0, 9]
    assert array[1].inner.y == 9 and array[:1][0].n == 7
    hidden = records(1, np.dtype([("all", "i8")]))[0]
    hidden.all = 5
    assert hidden.all == hidden["all"] == 5
    alone = as_records(np.zeros(1, NESTED))
    alone[0].inner.x = 3
    assert alone[0].inner.x == 3


@pytest.mark.parametrize("what", [lambda: records(1, NESTED), lambda: records(1, NESTED)[0]])
def test_other_names_are_no_attributes(what):
    with pytest.raises(AttributeError, match="no field 'm'"):
        _ = what().m


def test_a_record_takes_no_other_attribute():
    with pytest.raises(AttributeError, match="'m'"):
        records(1, NESTED)[0].m = 1


def test_a_row_fills_all_rows():
    assert full((2, 3), np.arange(3)).tolist() == [[0, 1, 2], [0, 1, 2]]


def test_an_array_larger_than_a_piece_of_the_space_has_its_own():
    with one_space():
        small, large, after = zeros(8), zeros((65 << 20) // 8), zeros(8)
    large[-1] = small[-1] = after[0] = 1
    assert (small.sum(), large.sum(), after.sum()) == (1, 1, 1)


def test_a_space_is_its_threads_alone_and_ends():
    with one_space():
        mine, theirs = zeros(8), []
        thread = threading.Thread(target=lambda: theirs.append(zeros(8)))
        thread.start()
        thread.join()
        near = zeros(8)
    outside = zeros(8)
    assert _address(near) == _address(mine) + CACHE_LINE
    assert mine.base is near.base
    assert theirs[0].base is not mine.base and outside.base is not mine.base


@pytest.mark.parametrize("dtype", [WAY, ENTRY, SLOT, UNIT])
def test_hot_records_fill_whole_cache_lines(dtype):
    assert dtype.itemsize % CACHE_LINE == 0


def test_a_space_that_the_system_has_not_is_no_memory():
    with one_space(), pytest.raises(MemoryError, match="no 4,611,686,018,427,387,904 bytes"):
        zeros(1 << 59)
