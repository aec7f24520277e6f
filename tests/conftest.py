"""What all tests share: where things lie, and how Hypothesis runs here."""

import functools
import gc
import importlib.util
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parent
SHARED = REPOSITORY.parent / "shared"
QUICK = (
    "builder",
    "campaigns/test_description.py",
    "campaigns/test_journal.py",
    "campaigns/test_point.py",
    "correlation",
    "frontend/accelsim",
    "execution/programs/test_stored.py",
    "execution/sass/test_sass_graph.py",
    "frontend/tracefile",
    "gpus",
    "isa",
    "metrics/test_document.py",
    "metrics/test_registry.py",
    "model/coherence/test_document.py",
    "model/coherence/test_table.py",
    "plot",
    "report",
    "store/test_cleaning.py",
    "store/test_content.py",
    "store/test_entry.py",
    "store/test_folder.py",
    "store/test_places.py",
    "store/test_trust.py",
    "studies/cases/test_dram_scheduling.py",
    "studies/test_claims.py",
    "studies/test_outcome.py",
    "studies/test_plots.py",
    "studies/test_report.py",
    "studies/test_rows.py",
    "test_errors.py",
    "test_structure.py",
    "test_files.py",
    "test_host_calls.py",
    "names",
    "test_habits.py",
    "test_packaging.py",
    "test_site.py",
    "test_type_budget.py",
    "tuning/test_base.py",
    "tuning/test_fit.py",
    "tuning/test_measured.py",
    "tuning/test_report.py",
    "tuning/test_rows.py",
    "tuning/test_shipped.py",
    "tuning/test_tuner.py",
    "workload",
)
"""What ``-m quick`` runs: whatever needs neither the compiled model nor a CUDA compiler."""
LONG = ("test_jit.py", "test_cuda_twin.py", "test_documentation.py", "test_throughput.py")
"""Files of which one process has something to do for half a minute or more."""
LONGEST_NAME = 200
"""Characters of a parameter that are part of a test's name."""
COMPILE = """
import lockstep
from lockstep import kernels
with lockstep.Device("QV100", timing=True) as device:
    kernels.load("saxpy").run(device, 32)
"""
COMPILATION = pytest.StashKey[subprocess.Popen]()

# A first call may compile, and a machine may be busy: no example is too slow.
settings.register_profile("lockstep", settings.default, deadline=None)
settings.load_profile("lockstep")


@pytest.fixture(scope="session")
def repository():
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared():
    """The folder of recorded traces and measurements beside the checkout."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs ../shared, which is absent")
    return SHARED


@pytest.fixture(scope="session")
def load_script():
    """Function from a path to the module that the script there makes; nothing is run as main."""

    def load(path):
        name = f"script_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def synthetic(load_script):
    """A seeded factory of results."""
    return load_script(TESTS / "metrics" / "synthetic.py")


@pytest.fixture(scope="module", autouse=True)
def _garbage_of_this_file_alone():
    """What is there before the tests of a file is there to stay: nobody looks at it again.

    A device beside another begins with a garbage collection, and so does one after an error, which
    holds the other: with all that was compiled before, each took up to 0.7 s.
    """
    gc.collect()
    gc.freeze()


@functools.cache
def is_quick(path):
    """Whether a file of tests, or a folder, is among the quick ones."""
    return any(path.is_relative_to(TESTS / name) for name in QUICK)


def pytest_configure():
    """Ctrl-C arrives: a shell's background job ignores it, and so would all that tests start.

    Garbage is looked for less often than Python does, which would take a tenth of the time. Files
    need not outlive a crash of the machine: the tests write thousands, and waited for the disk.
    Python keeps compiled modules whatever the environment says: else each process that a test
    starts compiles the whole package, and each that shares the tests rewrites all their assertions.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    gc.set_threshold(100_000, 50, 50)
    os.fsync = lambda descriptor: None
    assert all((TESTS / name).exists() for name in QUICK)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path, config):
    """Files without quick tests are not even read if nothing else is asked for."""
    if config.option.markexpr == "quick" and collection_path.suffix == ".py":
        return not is_quick(collection_path) or None
    return None


def pytest_sessionstart(session):
    """Compile once for all processes that share the tests: else each of them would."""
    config = session.config
    beside_others = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if beside_others and config.option.markexpr != "quick":
        config.stash[COMPILATION] = subprocess.Popen([sys.executable, "-c", COMPILE])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell each of these processes which one compiles."""
    compilation = node.config.stash.get(COMPILATION, None)
    node.workerinput["compilation"] = compilation and compilation.pid


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """A test that needs the compiled model waits for it."""
    if item.get_closest_marker("plain") is None and item.get_closest_marker("quick") is None:
        end_of(getattr(item.config, "workerinput", {}).get("compilation"))


@functools.cache
def end_of(process):
    """Wait until a process, which another one started, has ended."""
    with suppress(ProcessLookupError):  # it has been waited for
        handle = os.pidfd_open(process) if process else None
        if handle:
            select.select([handle], [], [])
            os.close(handle)


def pytest_sessionfinish(session):
    """Without the compilation, which says why, tests would only have taken longer."""
    compilation = session.config.stash.get(COMPILATION, None)
    assert compilation is None or compilation.wait() == 0, "the model does not compile: see above"


def pytest_make_parametrize_id(val):
    """The names of tests, which processes tell each other, do not hold texts of megabytes."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_NAME:
        start = ascii(val[:LONGEST_NAME])
        return f"{start.removeprefix('b')[1:-1]}... of {len(val)}"
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """What one process runs: the tests of a file, and all that a second pytest runs without JIT.

    A file may say that its tests are in groups of their own. What needs no compiled model comes
    first, while that is compiled; then what takes long in one piece, lest a process do it while
    the others are done. Tests in QUICK get their marker; those that are marked ``long`` run if all
    are asked for, or one of them by its name.
    """
    if not config.option.all and not any("::" in argument for argument in config.args):
        left_out = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
    for item in items:
        if is_quick(item.path):
            item.add_marker("quick")
        if item.get_closest_marker("xdist_group") is None:
            name = "plain" if item.get_closest_marker("plain") else str(item.path)
            item.add_marker(pytest.mark.xdist_group(name))
    items.sort(key=place)


def place(item):
    """Its place among the tests: the least comes first."""
    if item.get_closest_marker("plain"):
        return 0
    if item.get_closest_marker("quick"):
        return 1
    return 2 if item.path.name in LONG else 3


def pytest_addoption(parser):
    """What takes minutes, and is represented by a sample otherwise."""
    parser.addoption("--all", action="store_true", help="run tests that are marked long, too")
    parser.addoption(
        "--all-machine-code",
        action="store_true",
        help="execute the machine code of every case, not of a sample",
    )
