"""Units of the model are tested one by one as plain Python, in a process of their own.

Compiled, each function that a test calls by itself would need machine code of its own, minutes in
all; and in plain Python a test can watch any part. That compiled code gives the same results is
what ``tests/test_jit.py`` checks. Tests marked ``plain`` are therefore handed over to a second
pytest with NUMBA_DISABLE_JIT set, all at once, and their reports appear here as if they had run
here. Where it is set already, as one does for a debugger, they just run.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from lockstep import engine
from lockstep._jit import DISABLED
from lockstep.engine import building
from lockstep.engine.record import totals
from lockstep.gpus import library
from lockstep.model import control
from lockstep.model.cache.prefetch import registry
from lockstep.model.core import build
from lockstep.model.modules import pages
from lockstep.model.sm import scheduler

_REPORTS = "LOCKSTEP_TEST_REPORTS"  # the file that the second process writes
_results = pytest.StashKey[dict]()


def pytest_configure(config):
    config.addinivalue_line("markers", "plain: runs without JIT, in a process of its own")
    if path := os.environ.get(_REPORTS):
        config.pluginmanager.register(_Recorder(config, path))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if DISABLED or item.get_closest_marker("plain") is None:
        return None
    stash = item.session.stash
    if _results not in stash:
        stash[_results] = _run_plain(item.session)
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in stash[_results].get(_name(item)) or [_lost(item)]:
        report.nodeid = item.nodeid
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)  # of the test before, that ran here
    return True


def _run_plain(session):
    """All tests of the session that are to run without JIT: node id -> reports."""
    folder = session.config._tmp_path_factory.mktemp("plain")
    items = [_name(i) for i in session.items if i.get_closest_marker("plain")]
    (folder / "items").write_text("\n".join(items))
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", _REPORTS: str(folder / "reports")}
    options = ["-n0", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, f"@{folder / 'items'}"]
    done = subprocess.run(
        command, cwd=session.config.rootpath, env=environment, capture_output=True, text=True
    )
    if not (folder / "reports").exists():
        raise pytest.UsageError(f"the tests without JIT did not run:\n{done.stdout}{done.stderr}")
    results = defaultdict(list)
    for line in (folder / "reports").read_text().splitlines():
        report = session.config.hook.pytest_report_from_serializable(
            config=session.config, data=json.loads(line)
        )
        results[report.nodeid].append(report)
    return results


def _name(item):
    """The node id of a test, without the group that several processes append."""
    return item.nodeid.removesuffix("@plain")


def _lost(item):
    text = "the process without JIT ended before this test"
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")


class _Recorder:
    """In the second process: writes each report as one line."""

    def __init__(self, config, path):
        self.config, self.path = config, path

    def pytest_runtest_logreport(self, report):
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(self.path, "a") as file:
            print(json.dumps(data), file=file)


TINY = {
    "sm.count": 1,
    "sm.warps": 16,
    "sm.scheduler.policy": "gto",
    "sm.front_end.l0_bytes": 0,  # perfect
    "sm.memory.accept_interval": 2,
    "dram.channels": 1,
    "launch.overhead": 0,
    "launch.cta_interval": 1.0,
    "launch.concurrent_kernels": 4,
}


@pytest.fixture(scope="session")
def rig(load_script):
    """The memory side behind real links, see ``memory_side.py``."""
    return load_script(Path(__file__).parent / "memory_side.py")


@pytest.fixture(scope="session")
def tiny():
    """Function from overrides to a GPU of one SM whose kernels start at cycle 0."""
    return lambda **changes: library.replace(
        library.gpu("QV100"),
        **TINY | {name.replace("__", "."): value for name, value in changes.items()},
    )


@pytest.fixture(scope="session")
def idle_sms():
    """Function from a GPU to the state of its SMs, all idle."""

    def make(gpu):
        slices = pages.build(gpu, "linear", 256)
        chosen = registry.chosen(gpu)
        policies = building.compile_policies(chosen)
        policy = scheduler.policy_of(gpu, False)
        return build.build(gpu, slices, control.build(gpu), policies, set(chosen), policy)

    return make


@pytest.fixture(scope="session")
def watch():
    """Function that runs a workload without JIT and notes every issue of an instruction.

    ``.issues`` are (cycle, SM, warp slot, static index), ``.of(w)`` the cycles of one warp slot;
    ``.run`` is the engine's record, ``.stalls`` and ``.counters`` its counters, summed.
    """

    def run(workload, gpu, **options):
        seen, issue = [], scheduler.issue

        def note(c, s, b, w, now):
            if c.warps[s, w].left > 0:
                seen.append(tuple(map(int, (now, s, w, c.warps[s, w].static))))
            issue(c, s, b, w, now)

        with mock.patch.object(scheduler, "issue", note):
            result = engine.run(workload, gpu, **options)
        counters = totals(np.concatenate([k.sm for k in result.kernels]))
        return SimpleNamespace(
            issues=sorted(seen),
            of=lambda slot, sm=0: [i[0] for i in sorted(seen) if i[1:3] == (sm, slot)],
            run=result,
            counters=counters,
            stalls=counters["stalls"],
        )

    return run
