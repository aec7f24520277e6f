import shutil

import pytest
from click.testing import CliRunner

from lockstep.builder import KernelBuilder
from lockstep.cli.main import main


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Runs the command with arguments, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(
        main, [str(a) for a in arguments], prog_name="lockstep"
    )


@pytest.fixture(scope="session")
def trace(tmp_path_factory):
    """A trace file of two small kernels of sm_70."""
    from lockstep import api
    from lockstep.builder import program

    kernels = []
    for name in ("first", "second"):
        k = KernelBuilder(name, grid=4, block=64)
        with k.loop(3):
            k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000))
            k("FFMA R8, R4, R5, R8")
        k("EXIT")
        kernels.append(k)
    path = tmp_path_factory.mktemp("traces") / "tiny.lst"
    api.save(program(*kernels, name="tiny"), path)
    return path


class FakeEngine:
    """Stands for the engine: remembers how it was called, returns a synthetic run."""

    def __init__(self, synthetic):
        self.synthetic, self.changes, self.calls = synthetic, {}, []

    def run(self, workload, gpu, *, notice, progress, **options):
        self.calls.append((workload, gpu, options))
        notice("Compiling.")
        if progress:
            progress(1, 8, 100, 1000, "first")
        samples = 4 if options["interval"] else 0
        return self.synthetic.make_run(samples=samples, **self.changes)


@pytest.fixture
def engine(synthetic, monkeypatch):
    """Replaces the engine where a test looks at the command and not at the model."""
    import lockstep.engine

    fake = FakeEngine(synthetic)
    monkeypatch.setattr(lockstep.engine, "run", fake.run)
    return fake


@pytest.fixture
def compiler():
    """Skips where the library of a program cannot be built."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler, and there is none")
