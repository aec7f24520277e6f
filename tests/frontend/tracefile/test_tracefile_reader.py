"""Reading: lazy, at random, from any thread, and unmoved by files built to do harm."""

import pickle
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.errors import InputError
from lockstep.frontend import tracefile
from lockstep.frontend.tracefile import build, chunk, container, index, reader


@pytest.fixture
def file(small, tmp_path, monkeypatch):
    """A small trace file with a chunk for each CTA."""
    monkeypatch.setattr(build, "TARGET", 1)
    path = tmp_path / "small.lst"
    tracefile.write(small, path)
    return path


def test_ctas_are_read_one_by_one_in_any_order(file):
    for kernel in tracefile.load(file).kernels:
        streamed = list(kernel.ctas())
        assert [c.index for c in streamed] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
        for n in (2, 0, 1, 1):
            one = tracefile.read_cta(kernel, n)
            for name in ("warps", "runs", "addresses", "pool"):
                assert getattr(one, name).tobytes() == getattr(streamed[n], name).tobytes()
        for n in (-1, 3):
            with pytest.raises(IndexError):
                tracefile.read_cta(kernel, n)


def test_each_pass_begins_at_the_start(file):
    kernel = tracefile.load(file).kernels[0]
    passes = [kernel.ctas() for _ in range(2)]
    for a, b in zip(*passes, strict=True):
        assert a.index == b.index


def test_a_kernel_from_elsewhere_has_no_random_access(small):
    with pytest.raises(TypeError, match="lockstep trace file"):
        tracefile.read_cta(small.kernels[0], 0)


def test_loading_reads_no_chunk(file):
    data = bytearray(file.read_bytes())
    data[20] ^= 1  # in the first chunk
    file.write_bytes(data)
    kernels = tracefile.load(file).kernels
    assert len(list(kernels[1].ctas())) == 3
    with pytest.raises(InputError, match="byte 12: checksum"):
        list(kernels[0].ctas())
    assert tracefile.read_cta(kernels[0], 1).index == (1, 0, 0)


def test_the_digest_names_the_content(file, small):
    first = tracefile.load(file)
    assert (first.path, len(first.digest)) == (str(file), 64)
    small.kernels[1].registers += 1
    tracefile.write(small, file)
    assert tracefile.load(file).digest != first.digest


def test_a_loaded_workload_travels_to_other_processes(file):
    again = pickle.loads(pickle.dumps(tracefile.load(file)))
    assert len(list(again.kernels[0].ctas())) == 3


def test_threads_may_share_a_kernel(file):
    kernel, counts = tracefile.load(file).kernels[0], []
    threads = [
        threading.Thread(target=lambda: counts.append(len(list(kernel.ctas())))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 4


class Parts:
    """The payloads of a file, to be changed and put together again with fitting checksums."""

    def __init__(self, small, path):
        tracefile.write(small, path)
        self.workload, self.path = small, path
        kernels = tracefile.load(path).kernels
        self.chunks = [self._payload(*placed) for k in kernels for placed in k.ctas._chunks]

    def _payload(self, offset, stored):
        return container.File(self.path).section(offset, *stored[1:])

    def write(self, chunk_payload=None, index_payload=None):
        """Write the file with the first chunk or the index replaced."""
        stored, body = [], b""
        for payload in [chunk_payload or self.chunks[0], *self.chunks[1:]]:
            frame = container.compress(payload)
            crc = container.zlib.crc32(frame)
            stored.append([index.StoredChunk(3, len(frame), len(payload), crc)])
            body += frame
        self.index = index.encode(self.workload, stored)
        payload = self.index if index_payload is None else index_payload
        frame = container.compress(payload)
        head = container.header(index.version(self.workload))
        footer = container.footer(head, 12 + len(body), frame, len(payload))
        self.path.write_bytes(head + body + frame + footer)

    def harmless(self, content):
        """Refused with one line, or a workload that keeps all rules."""
        try:
            content(tracefile.load(self.path))
        except InputError as error:
            assert str(error).startswith(f"{self.path}, byte ") and "\n" not in str(error)


@pytest.fixture
def parts(small, tmp_path):
    """A file in parts."""
    found = Parts(small, tmp_path / "parts.lst")
    found.write()
    return found


SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
CHANGES = st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(changes=CHANGES, which=st.sampled_from(["chunk", "index"]), cut=st.integers(0, 9))
def test_changed_payloads_with_fitting_checksums_do_no_harm(changes, which, cut, parts, content):
    payload = bytearray(parts.chunks[0] if which == "chunk" else parts.index)
    for place, value in changes:
        payload[place % len(payload)] = value
    payload = bytes(payload[: len(payload) - cut * (cut > 7)])
    parts.write(**{f"{which}_payload": payload})
    parts.harmless(content)


EXTREMES = st.sampled_from(
    [-(1 << 63), -1, 0, 1, 2, 3, 64, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1]
)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(table=st.integers(0, 5), column=st.integers(0), row=st.integers(0), value=EXTREMES)
def test_extreme_values_in_a_chunk_do_no_harm(table, column, row, value, parts, content):
    data = np.frombuffer(parts.chunks[0], np.uint8)
    tables, end = chunk.unpack_tables(data, chunk.TABLES, 99)
    columns = tables[table]
    columns[column % len(columns), row % columns.shape[1]] = value
    parts.write(chunk_payload=build.pack_tables(tables) + parts.chunks[0][end:])
    parts.harmless(content)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(table=st.integers(0, 8), column=st.integers(0), row=st.integers(0), value=EXTREMES)
def test_extreme_values_in_the_index_do_no_harm(table, column, row, value, parts, content):
    data = np.frombuffer(parts.index, np.uint8)
    tables, end = index.unpack_tables(data, index.TABLES, 999)
    columns = tables[table]
    columns[column % len(columns), row % columns.shape[1]] = value
    parts.write(index_payload=index.pack_tables(tables) + parts.index[end:])
    parts.harmless(content)


@pytest.mark.parametrize("rows", [1 << 16, 1 << 20, 1 << 30, 1 << 62])
@pytest.mark.parametrize("table", range(6))
def test_huge_counts_that_cost_no_bytes_are_refused(table, rows, parts):
    counts = [3, 4, 2, 4, 2, 2]
    counts[table] = rows
    head = build.pack(counts)
    parts.write(chunk_payload=head + bytes(200))
    kernel = tracefile.load(parts.path).kernels[0]
    with pytest.raises(InputError, match="chunk: "):
        list(kernel.ctas())


def test_a_chunk_for_another_number_of_ctas_is_refused(parts):
    kernel = tracefile.load(parts.path).kernels[0]
    (offset, stored), *_ = kernel.ctas._chunks
    wrong = reader.StoredCtas(
        container.File(parts.path), kernel, [(offset, stored._replace(ctas=4))]
    )
    with pytest.raises(InputError, match="expected 4 CTAs"):
        list(wrong())
