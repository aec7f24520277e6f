"""Proxies: what is kept of one comes back; what is damaged is refused, with its place."""

from fractions import Fraction

import numpy as np
import pytest

from lockstep import api
from lockstep.builder import KernelBuilder
from lockstep.errors import InputError, WorkloadError
from lockstep.frontend.proxy import (
    METHODS,
    KernelModel,
    Launched,
    Proxy,
    ProxyAllocation,
    ProxyCopy,
    ProxyLaunch,
    container,
    model,
    register,
)
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.workload import Kernel, MemoryCopy


class OneLoad(KernelModel):
    """A load by each thread from the start of the allocation that it knows."""

    method = "one-load"
    allocations = 1

    def __init__(self, offset):
        self.offset = offset

    def facts(self):
        return {"bytes": 4}

    def columns(self):
        return {"offset": np.array([self.offset])}

    @classmethod
    def of(cls, facts, columns):
        if set(columns) != {"offset"} or len(columns["offset"]) != 1:
            raise Malformed("expected an offset")
        return cls(int(columns["offset"][0]))

    def check(self, launch: Launched) -> None:
        if launch.grid[0] == 13:
            raise Malformed("a grid of 13")

    def generate(self, launch: Launched):
        ctas = max(1, int(launch.grid[0] * launch.scale))
        k = KernelBuilder("x", (ctas, *launch.grid[1:]), launch.block)
        k("LDG.E R0, [R1]", address=k.coalesced(int(launch.bases[0]) + self.offset))
        kernel = k.kernel()
        return kernel.grid, kernel.code, kernel.ctas


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(METHODS, "one-load", __name__)
    monkeypatch.setattr(model, "_KINDS", dict(model._KINDS))
    register(OneLoad)


def proxy(**changes) -> Proxy:
    launch = ProxyLaunch(0, "k", (8, 1, 1), (64, 1, 1), (1,), registers=40, shared_bytes=16)
    allocations = [ProxyAllocation(1 << 30, 4096), ProxyAllocation(1 << 31, 1 << 20)]
    commands = [ProxyCopy(1, 16, 64), launch, launch]
    made = {"name": "app", "method": "one-load", "models": [OneLoad(128)], "gpu": "H100"}
    made |= {"commands": commands, "allocations": allocations}
    return Proxy(**made | changes)


def test_what_is_saved_is_loaded(tmp_path):
    path, given = tmp_path / "app.proxy", proxy(level="hidden", facts={"scheduler": "LRR"})
    given.save(path)
    found = Proxy.load(path)
    assert (found.commands, found.allocations) == (given.commands, given.allocations)
    assert (found.name, found.gpu, found.level, found.facts) == (
        "app",
        "H100",
        "hidden",
        {"scheduler": "LRR"},
    )
    assert found.models[0].offset == 128
    assert found.workload().digest == given.workload().digest


def test_scalar_registers_have_a_column_where_there_are_some(tmp_path):
    plain, *_ = changed()[1]
    assert "scalar_registers" not in plain
    launch = ProxyLaunch(0, "k", (8, 1, 1), (64, 1, 1), (1,), warp_size=64, scalar_registers=24)
    given = proxy(commands=[launch])
    given.save(tmp_path / "app.proxy")
    assert Proxy.load(tmp_path / "app.proxy").commands == [launch]
    assert given.workload().kernels[0].scalar_registers == 24


def test_a_proxy_is_a_workload(tmp_path):
    proxy().save(tmp_path / "app.proxy")
    workload = api.load(tmp_path / "app.proxy")
    copy, first, second = workload.commands
    assert copy == MemoryCopy((1 << 31) + 16, 64)
    assert isinstance(second, Kernel) and (first.id, second.id) == (1, 2)
    assert (first.grid, first.block, first.registers) == ((8, 1, 1), (64, 1, 1), 40)
    cta = next(first.ctas())
    assert cta.addresses["first"][0] == (1 << 31) + 128


@pytest.mark.parametrize(("scale", "ctas"), [(1, 8), ("1/8", 1), (0.5, 4), (Fraction(1, 4), 2)])
def test_a_smaller_workload(scale, ctas):
    assert proxy().workload(scale).kernels[0].n_ctas == ctas


@pytest.mark.parametrize("scale", [0, -1, 2, "x", "1/0", float("nan"), float("inf")])
def test_a_wrong_scale_is_refused(scale):
    with pytest.raises(WorkloadError, match="expected more than 0 and at most 1"):
        proxy().workload(scale)


def changed(**columns):
    """A proxy's document and columns, some of them changed."""
    from lockstep.frontend.proxy import tables

    made, names = tables.encode(proxy().commands, proxy().allocations)
    document = {"method": "one-load", "level": "plain", "name": "app", "gpu": "", "facts": {}}
    document |= {"kernels": names, "models": [{"method": "one-load", "facts": {}}]}
    made = {name: np.array(values) for name, values in (made | columns).items()}
    return document, [made, OneLoad(0).columns()]


WRONG_COLUMNS = {
    "model 1 of 1": {"model": [1, 0]},
    "grid_x out of range": {"grid_x": [0, 8]},
    "block_y out of range": {"block_y": [2000, 1]},
    "threads of a block out of range": {"block_x": [1024, 64], "block_y": [2, 1]},
    "warps of 32 or 64": {"warp_size": [31, 32]},
    "scalar_registers out of range": {"scalar_registers": [0, -1]},
    "name out of range": {"name": [0, 1]},
    "allocation out of range": {"allocation": [2, 0]},
    "1 values; expected 2": {"known": [2]},
    "2 allocations; expected 1": {"known": [2, 0]},
    "does not lie in its allocation": {"copy_offset": [1 << 20]},
    "a copy to an allocation": {"copy_allocation": [2]},
    "allocations of addresses": {"base": [1 << 62, 0]},
    "expected 0 or 1": {"launch": [0, 1, 2]},
    "a grid of 13": {"grid_x": [8, 13]},
}


@pytest.mark.parametrize("problem", WRONG_COLUMNS)
def test_columns_out_of_range_are_refused(tmp_path, problem):
    document, groups = changed(**WRONG_COLUMNS[problem])
    container.write(tmp_path / "x.proxy", document, groups)
    with pytest.raises(InputError, match=problem):
        Proxy.load(tmp_path / "x.proxy")


WRONG_DOCUMENTS = {
    "no method of proxies is named 'gmop'": {"method": "gmop"},
    "no level of proxies is named": {"level": "open"},
    "expected 'name' as str": {"name": 3},
    "expected 'facts' as dict": {"facts": []},
    "expected names of kernels": {"kernels": [3]},
    "2 groups of columns; expected 1": {"models": []},
    "expected model 0 as an object": {"models": [7]},
}


@pytest.mark.parametrize("problem", WRONG_DOCUMENTS)
def test_a_wrong_document_is_refused(tmp_path, problem):
    document, groups = changed()
    container.write(tmp_path / "x.proxy", document | WRONG_DOCUMENTS[problem], groups)
    with pytest.raises(InputError, match=problem):
        Proxy.load(tmp_path / "x.proxy")


def test_every_byte_is_under_the_checksum(tmp_path):
    path = tmp_path / "x.proxy"
    proxy().save(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(InputError, match=r"x.proxy, byte \d+: "):
            Proxy.load(path)
    for size in (0, 7, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"x.proxy, byte \d+: "):
            Proxy.load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InputError, match="checksum mismatch"):
        Proxy.load(path)


def test_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "VERSION", (2, 0))
    proxy().save(tmp_path / "x.proxy")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"proxy version 2.0; this program reads version 1"):
        Proxy.load(tmp_path / "x.proxy")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "x.proxy"
    proxy().save(path)
    before = path.read_bytes()
    monkeypatch.setattr(OneLoad, "columns", lambda self: {"offset": None})
    with pytest.raises(TypeError):
        proxy().save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
