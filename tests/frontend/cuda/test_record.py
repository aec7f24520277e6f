import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.frontend.cuda.calls import Call, encode_body
from lockstep.frontend.cuda.record import FILE, RecordWriter, read_record

MEMORY = np.arange(256, dtype=np.uint8)


def look(address, size):
    return MEMORY[address : address + size].data


def test_calls_come_back(tmp_path):
    writer = RecordWriter(tmp_path / "a" / "b")
    writer.add(0, Call.ALLOCATE, 64, encode_body((100, 1)), look)
    writer.add(3, Call.READ, 0, encode_body((1, 2, 3, 4)), look)  # changes nothing
    writer.add(3, Call.LAUNCH, 0, encode_body(tuple(range(14))) + b"block", look)
    writer.close()
    first, second = read_record(tmp_path / "a" / "b")
    assert first == (0, Call.ALLOCATE, 64, {"size": 100, "kind": 1}, b"")
    assert (second.connection, second.call, second.data) == (3, Call.LAUNCH, b"block")


def test_written_bytes_are_part_of_the_record(tmp_path):
    writer = RecordWriter(tmp_path)
    writer.add(0, Call.WRITTEN, 0, encode_body((10, 32, 3, 2, 0)), look)
    writer.close()
    (entry,) = read_record(tmp_path)
    assert list(entry.data) == [10, 11, 12, 42, 43, 44]


def test_memory_without_calls_is_noted_where_it_changed(tmp_path, monkeypatch):
    monkeypatch.setattr("lockstep.frontend.cuda.record._CHUNK", 16)
    memory = np.zeros(40, np.uint8)
    writer = RecordWriter(tmp_path)
    for _ in range(2):
        writer.note(0, [(0, 40)], lambda a, n: memory[a : a + n].data)
    memory[17] = 1
    writer.note(0, [(0, 40)], lambda a, n: memory[a : a + n].data)
    writer.close()
    noted = [(e.fields["address"], len(e.data)) for e in read_record(tmp_path)]
    assert noted == [(0, 16), (16, 16), (32, 8), (16, 16)]


def test_every_cut_is_noticed(tmp_path):
    writer = RecordWriter(tmp_path)
    for k in range(5):
        writer.add(0, Call.ALLOCATE, k, encode_body((100, 1)), look)
    writer.close()
    whole = (tmp_path / FILE).read_bytes()
    for size in range(len(whole)):
        (tmp_path / FILE).write_bytes(whole[:size])
        with pytest.raises(InputError):
            list(read_record(tmp_path))


def test_damage_is_noticed(tmp_path):
    writer = RecordWriter(tmp_path)
    writer.add(0, Call.LOAD_MODULE, 1, bytes(range(256)), look)
    writer.close()
    whole = (tmp_path / FILE).read_bytes()
    for place in range(16, len(whole)):
        (tmp_path / FILE).write_bytes(
            whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :]
        )
        try:
            (entry,) = read_record(tmp_path)
        except InputError as error:
            assert "call record" in str(error)
            continue
        assert entry.data == bytes(range(256))  # a bit that means nothing


def test_a_long_copy_becomes_several(tmp_path, monkeypatch):
    monkeypatch.setattr("lockstep.frontend.cuda.record._WHOLE", 8)
    writer = RecordWriter(tmp_path)
    writer.add(0, Call.WRITTEN, 0, encode_body((10, 32, 10, 2, 0)), look)
    writer.close()
    parts = [(e.fields["address"], list(e.data)) for e in read_record(tmp_path)]
    assert [part for part, _ in parts] == [10, 18, 42, 50]
    assert [n for _, data in parts for n in data] == [*range(10, 20), *range(42, 52)]


def test_a_full_disk_leaves_the_earlier_record(tmp_path):
    writer = RecordWriter(tmp_path)
    writer.add(0, Call.ALLOCATE, 64, encode_body((100, 1)), look)
    writer.close()
    whole = (tmp_path / FILE).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writer = RecordWriter(tmp_path)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, limits[1]))
        for k in range(8):
            noise = np.random.default_rng(k).bytes(1 << 16)
            writer.add(0, Call.LOAD_MODULE, k, noise, look)
        with pytest.raises(InputError, match=f"{FILE}: cannot write: File too large"):
            writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).read_bytes() == whole


def test_another_version(tmp_path):
    RecordWriter(tmp_path).close()
    raw = bytearray((tmp_path / FILE).read_bytes())
    raw[8] ^= 1
    (tmp_path / FILE).write_bytes(raw)
    with pytest.raises(InputError, match="another version"):
        list(read_record(tmp_path))


def test_a_place_that_cannot_be_written():
    with pytest.raises(LockstepError, match="cannot write"):
        RecordWriter(Path("/proc/x"))
