"""What the simulator relies on in Numba's private parts, and that all ways to run it agree."""

import ctypes
import gc
import io
import os
import shutil
import subprocess
import sys
import threading
import weakref
from itertools import product
from pathlib import Path

import numba
import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from numba.core import codegen, compiler

import lockstep
from lockstep import _jit
from lockstep._jit import functions, intrinsics, keys, settings, target
from lockstep._jit.compiler import parts
from lockstep.store import entry, places

TINY = """
import lockstep

gpu = lockstep.gpu("QV100", [
    "sm.warp_size=32", "sm.count=3", "dram.channels=3", "l2.sets=3", "l2.ways=2",
    "launch.overhead=50", "sm.warps=16", "sm.registers=16384", "l1.sets=3", "l1.mshr_entries=4",
])
k = lockstep.KernelBuilder(
    "tiny", grid=5, block=70, warp_size=32, registers=32, shared_bytes=2048, architecture=90
)
k("S2R R0, SR_TID.X")
k("UBLKCP [UR8], [UR4], 0x310", address=0x7F0000000020, mask=1)
k("UTMASTG [UR8], [UR4], 0x300", address=0x7F0000020010, mask=3)
with k.loop(2):
    k("LDG.E R4, [R2]", address=k.random(0x7F0000000000, span=1 << 14, seed=3))
    k("MUFU.RCP R5, R4")
    k("STS [R6], R5", address=k.bank_conflict(4))
    k("BAR.SYNC 0x0")
    k("LDS R7, [R6]", address=k.broadcast(64))
    k("FFMA R8, R7, R5, c[0x0][0x160]")
    k("RED.E.ADD [R2], R8", address=k.coalesced(0x7F0000000000, 4))
    k("STG.E [R2], R8", address=k.coalesced(0x7F0000010000, 4))
k("MEMBAR.SC.GPU")
k("EXIT")
result = lockstep.simulate(k.workload(), gpu, interval=200)
print(result.hash, result.total["warp_instructions"])
"""
WARMED = TINY.replace(
    "lockstep.simulate(k.workload(), gpu,",
    "lockstep.simulate(lockstep.builder.program(k, k), gpu, warm=[1],",
).replace("import lockstep\n", "import lockstep.builder\n")
WIDE = TINY.replace("warp_size=32", "warp_size=64").replace("mask=1)", "mask=1 << 63)")


def run(program, **environment):
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def compiled():
    return run(TINY)


@pytest.mark.long
def test_without_jit_the_same_comes_out(compiled):
    assert int(compiled[1]) > 200
    assert run(TINY, NUMBA_DISABLE_JIT="1") == compiled


@pytest.mark.long
def test_without_jit_the_same_is_warmed(compiled):
    assert "warm=[1]" in WARMED
    warmed = run(WARMED)
    assert warmed[1] == compiled[1] and warmed[0] != compiled[0]
    assert run(WARMED, NUMBA_DISABLE_JIT="1") == warmed


@pytest.mark.long
def test_without_jit_the_same_comes_out_of_warps_of_64_threads():
    assert WIDE.count("warp_size=64") == 2 and "mask=1 << 63)" in WIDE
    wide = run(WIDE)
    assert int(wide[1]) > 100
    assert run(WIDE, NUMBA_DISABLE_JIT="1") == wide


def kept_objects():
    """Object code of everything that the store has, by symbol."""
    for place in places.usable():
        for file in place.kind("model").iterdir():
            name, content = entry.unpack(file.read_bytes())
            if content:
                head, objects = functions.unpack(content)
                yield name, head.symbol, objects


@pytest.mark.skipif(settings.DISABLED, reason="nothing is compiled")
def test_what_is_kept_needs_neither_numba_nor_python(compiled):
    kept = list(kept_objects())
    for entry_point in (
        "model.sm.sm.run_linked",
        "model.partition.run_linked",
        "engine.windows.run_windows",
    ):
        assert any(f"lockstep.{entry_point}." in symbol for _, symbol, _ in kept)
    for name, _, objects in kept:
        assert objects.startswith(b"\x7fELF"), name
        elf = ELFFile(io.BytesIO(objects))
        symbols = elf.get_section_by_name(".symtab").iter_symbols()
        outside = {s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF" and s.name}
        assert not [s for s in outside if s.startswith(("Py", "_Py", "NRT", "numba"))], name


def test_a_warm_start_imports_no_compiler_and_gives_the_same(compiled):
    warm = run(TINY + "import sys; print('numba' in sys.modules, 'llvmlite' in sys.modules)")
    assert warm == [*compiled, "False", str(not target.is_linux_x86())]


def test_an_array_that_is_allocated_would_be_noticed():
    allocates = numba.njit(lambda n: np.zeros(n))
    allocates(3)
    assert any("NRT_" in text for text in allocates.inspect_llvm().values())
    with pytest.raises(numba.core.errors.NumbaError):
        numba.njit(**settings.OPTIONS)(lambda n: np.zeros(n).sum())(3)


def test_an_edit_changes_the_key_of_what_imports_the_file_and_nothing_else(tmp_path):
    package = tmp_path / "lockstep"
    shutil.copytree(keys.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "from lockstep._jit import keys\n"
        "for file in ('model/sm/sm.py', 'model/partition.py', 'engine/windows.py'):\n"
        "    print(keys.source_key(keys.PACKAGE / file))"
    )
    before = run(program, PYTHONPATH=str(tmp_path))
    with (package / "model" / "core" / "fetch.py").open("a") as file:
        file.write("# an edit\n")
    after = run(program, PYTHONPATH=str(tmp_path))
    changed = [a != b for a, b in zip(before, after, strict=True)]
    assert changed == [True, False, False]


def test_without_a_place_for_machine_code_everything_still_runs(tmp_path):
    (tmp_path / "file").write_text("no directory")
    program = (
        "from lockstep._jit import is_compiled\n"
        "from lockstep.model import link\n"
        "print(is_compiled(link.next_arrival))\n"
        "print(link.next_arrival(link.build(2, 3, 10, 4, 1), 0, 3, 1) == 1 << 60)"
    )
    place = {"LOCKSTEP_CACHE_DIR": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file")}
    assert run(program, **place) == ["False", "True"]


def test_machine_code_that_cannot_be_kept_still_runs(tmp_path):
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n"
        "from lockstep._jit import is_compiled, phase\n"
        "from lockstep.model import link\n"
        "links = link.build(2, 3, 10, 4, 1)\n"
        "print(link.next_arrival(links, 0, 3, 1) == 1 << 60)\n"
        "print(phase(link.next_arrival, [links.kind], 3).address > 0)\n"
        "print(is_compiled(link.next_arrival))"
    )
    assert run(program, LOCKSTEP_CACHE_DIR=str(tmp_path)) == ["True", "True", "False"]
    assert not any(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.long
def test_what_llvm_does_not_optimise_runs_and_is_not_kept(tmp_path):
    program = (
        "from lockstep._jit import is_compiled\n"
        "from lockstep.model import link\n"
        "print(link.next_arrival(link.build(2, 3, 10, 4, 1), 0, 3, 1) == 1 << 60)\n"
        "print(is_compiled(link.next_arrival))"
    )
    place = {"LOCKSTEP_CACHE_DIR": str(tmp_path)}
    assert run(program, NUMBA_OPT="0", **place) == ["True", "False"]
    assert run(program, NUMBA_OPT="1", **place) == ["True", "True"]


@_jit.inline
def pick(array, index):
    """The innermost of three, for the tests below."""
    return array[index]


@_jit.force_inline
def pick_two(array, index):
    """A part with parts, twice the same."""
    return pick(array, index) + 10 * pick(array, 1)


def test_llvm_works_once_on_a_function_with_all_its_parts(monkeypatch):
    outer = _jit.jit(lambda a: pick_two(a, 0) + 100 * pick(a, 2))
    finished = []
    finish = codegen.JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        codegen.JITCodeLibrary,
        "_finalize_specific",
        lambda library: (finished.append(library.name), finish(library)),
    )
    assert outer(np.array([4, 5, 6])) == 654
    assert [name for name in finished if "pick" in name] == []
    assert len([name for name in finished if "lambda" in name]) == 1
    assert len(parts.dispatcher(pick).overloads) == 1, "constants make no code of their own"


def test_nobody_looks_for_garbage_while_code_is_compiled(monkeypatch):
    compile_part, looks = parts._PartCompiler._compile_core, []

    def compile_watched(*arguments):
        looks.append(gc.isenabled())
        return compile_part(*arguments)

    monkeypatch.setattr(parts._PartCompiler, "_compile_core", compile_watched)
    assert _jit.jit(lambda a: a[0] + 1)(np.array([4])) == 5
    assert looks == [False] and gc.isenabled()


def test_a_part_can_be_called_from_python_before_and_after_others_contain_it():
    @_jit.inline
    def twice(x):
        return 2 * x

    assert twice(3) == 6
    outer = _jit.jit(lambda x: twice(x) + 1)
    assert [outer(3), twice(4), twice(5), outer(6)] == [7, 8, 10, 13]


def test_flags_of_parts_compare_as_numbas_do():
    ours, theirs = parts.PartFlags(), compiler.Flags()
    theirs.debuginfo = theirs.debuginfo  # set, to what it is without
    assert ours == theirs and theirs == ours and hash(ours) == hash(theirs)
    ours.forceinline = True
    assert ours != theirs and theirs != ours
    assert {ours: 1}.get(theirs) is None
    theirs.forceinline = True
    assert {ours: 1}[theirs] == 1


def test_bounds_are_checked_in_parts_if_asked_for():
    program = (
        "import numpy as np\n"
        "from lockstep import _jit\n"
        "part = _jit.inline(lambda a, k: a[k])\n"
        "outer = _jit.jit(lambda a, k: part(a, k) + 1)\n"
        "array = np.zeros(4, np.int64)[:2]\n"
        "for k in 1, 2:\n"
        "    try:\n"
        "        print(outer(array, k))\n"
        "    except IndexError:\n"
        "        print('IndexError')"
    )
    assert run(program, NUMBA_BOUNDSCHECK="1") == ["1", "IndexError"]
    assert run(program, NUMBA_BOUNDSCHECK="0") == ["1", "1"]


class Pair(_jit.Context):
    """Two arrays, for the test below."""

    first: np.ndarray
    second: np.ndarray


def test_a_context_reads_like_a_named_tuple_in_both_worlds():
    pair = Pair(np.arange(6).reshape(2, 3), second=np.zeros(2, np.int64))

    @_jit.jit
    def add(c, i):
        c.second[i] += c.first[i, 2] + c.first.shape[1]
        return c.second[i]

    assert [add(pair, 0), add(pair, 1), add(pair, 1)] == [5, 8, 16]
    assert pair.second.tolist() == [5, 16]
    other = pair._replace(second=np.ones(2, np.int64))
    assert add(other, 1) == 9 and pair.second[1] == 16
    with pytest.raises(TypeError):
        Pair(np.zeros(1))
    with pytest.raises(TypeError):
        Pair(np.zeros((4, 4))[:, ::2], np.zeros(1))


def test_a_bound_call_sees_what_its_arrays_hold_by_then_and_keeps_them_alive():
    @_jit.jit
    def add(c, array, k):
        c.second[0] += 1
        return c.first[0, 0] + array[k]

    array = np.arange(4)
    pair = Pair(np.zeros((1, 1), np.int64), np.zeros(1, np.int64))
    first, second, told = pair.first, pair.second, weakref.ref(array)
    call, other = _jit.bound(add, pair, array, 2), _jit.bound(add, pair, array, 3)
    assert [call(), call(), other()] == [2, 2, 3] and second[0] == 3
    array[2], first[0, 0] = 7, 100
    assert [call(), other(), add(pair, array, 2)] == [107, 103, 107]
    del pair, array, other
    assert call() == 107 and told() is not None
    del call
    gc.collect()
    assert told() is None


@pytest.mark.parametrize("mask", [0, 1, 0b1011, (1 << 32) - 1, (1 << 63) - 1])
def test_popcount_counts_bits(mask):
    compiled = _jit.jit(lambda x: _jit.popcount(x))
    assert compiled(np.int64(mask)) == compiled(mask) == mask.bit_count()


@pytest.mark.parametrize("bit", [0, 1, 31, 32, 62, 63])
def test_zeros_below_the_lowest_bit_are_counted(bit):
    compiled = _jit.jit(lambda x: _jit.trailing_zeros(x))
    for mask in (np.int64(1) << bit, np.int64(-1) << bit):
        assert compiled(mask) == intrinsics._trailing_zeros_in_python(mask) == bit
    assert compiled(0) == intrinsics._trailing_zeros_in_python(0) == 64


@pytest.mark.parametrize("number", [0, 5, -1, -(1 << 63), (1 << 63) - 1])
def test_machine_code_gets_all_bits_of_its_argument(number):
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    function = kind(lambda state, argument: argument)
    address = ctypes.cast(function, ctypes.c_void_p).value
    compiled = _jit.jit(lambda a, n: _jit.call_native(a, 0, n))
    assert compiled(address, number) == number
    assert intrinsics._call_native_from_python(address, 0, number) == number


def test_additions_of_threads_do_not_get_lost_without_jit():
    total = np.zeros(1, np.int64)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        add = lambda: [intrinsics._add_in_python(total, 0, 1) for _ in range(5000)]  # noqa: E731
        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert total[0] == 20000


def test_a_thread_sleeps_until_a_word_changes():
    def waits(words):
        while _jit.look(words, 1) == 7:
            _jit.sleep_while(words, 1, 7)
        return _jit.look(words, 1)

    def wakes(words):
        _jit.atomic_add(words, 1, 2)
        _jit.wake_sleepers(words, 1)
        return 0

    words, seen = np.array([0, 7, 0]), []
    waits, wakes = _jit.jit(waits), _jit.jit(wakes)
    wakes(np.zeros(2, np.int64))  # nobody sleeps; it is compiled
    thread = threading.Thread(target=lambda: seen.append(waits(words)))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive() and not seen
    wakes(words)
    thread.join()
    assert seen == [9]
    assert waits(words) == 9, "it does not sleep at all"


def test_the_version_says_where_it_was_tested():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert '"numba>=0.68,<0.69"' in text
    assert numba.__version__.startswith("0.68.")
    assert lockstep.__version__


def test_words_side_by_side_are_compared_and_moved_at_once():
    equal = {
        4: _jit.jit(lambda words, first, value: _jit.equal_words(words, first, value, 4)),
        8: _jit.jit(lambda words, first, value: _jit.equal_words(words, first, value, 8)),
    }
    push = {
        4: _jit.jit(lambda words, first, value, n: _jit.push_words(words, first, value, n, 4)),
        8: _jit.jit(lambda words, first, value, n: _jit.push_words(words, first, value, n, 8)),
    }
    rng = np.random.default_rng(1)
    for width in (4, 8):
        for first in range(4):
            words = rng.integers(-2, 2, 12)
            for value in (-2, -1, 0, 1, 1 << 62):
                found = equal[width](words, first, value)
                assert found == intrinsics._equal_words_in_python(words, first, value, width)
                assert found == sum(1 << k for k in range(width) if words[first + k] == value)
            for count in range(width + 1):
                here, there = np.arange(12) << 40, np.arange(12) << 40
                push[width](here, first, -7, count)
                intrinsics._push_words_in_python(there, first, -7, count, width)
                assert here.tolist() == there.tolist()
                kept = [k << 40 for k in range(12)]
                lost = first + min(count, width - 1)
                assert here.tolist() == kept[:first] + [-7] + kept[first:lost] + kept[lost + 1 :]


def test_times_side_by_side_are_counted_and_moved_at_once():
    def four(times, at, used, limit, now):
        return _jit.push_times(times, at, used, limit, now, 4)

    def sixteen(times, at, used, limit, now):
        return _jit.push_times(times, at, used, limit, now, 16)

    push = {4: _jit.jit(four), 16: _jit.jit(sixteen)}
    rng = np.random.default_rng(2)
    for width, at in product((4, 16), range(3)):
        times = -np.sort(-rng.choice(90, 19, replace=False)).astype(np.int32)
        old = times[at : at + width].tolist()
        for used in (-1, 0, 100, *old, *(time + 1 for time in old)):
            for limit in (used, (1 << 31) - 1):
                here, there = times.copy(), times.copy()
                depth = push[width](here, at, used, limit, 100)
                assert depth == sum(time > used for time in old)
                assert depth == intrinsics._push_times_in_python(there, at, used, limit, 100, width)
                assert here.tolist() == there.tolist()
                moved = [100, *old[:depth], *old[depth + 1 :]][:width] if used < 100 else old
                expected = moved if limit == used else old
                assert here[at : at + width].tolist() == expected
