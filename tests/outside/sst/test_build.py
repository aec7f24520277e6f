"""The element library: what needs no SST. See docs/outside.md for a run with one."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import lockstep
from fixed_memory import FixedMemory
from lockstep.errors import LockstepError
from lockstep.outside import ANSWER, REQUEST, Kind
from lockstep.outside.sockets import FRAME, HELLO, MAGIC, OVER, VERSION, WELCOME
from lockstep.outside.sst import build

SOURCE = Path(build.__file__).parent
GXX = shutil.which("g++")
RECORDS = {
    "Hello": HELLO, "Welcome": WELCOME, "Frame": FRAME, "Request": REQUEST, "Answer": ANSWER
}  # fmt: skip

FIXED = """
#include "frames.h"
#include <cstdio>
#include <deque>
int main(int count, char** words)
{
    lockstep::Process process(std::vector<std::string>(words + 2, words + count));
    std::deque<lockstep::Answer> waiting;
    std::vector<lockstep::Request> requests;
    int64_t end, total = 0, most = 0;
    while (process.next(end, requests)) {
        std::vector<lockstep::Answer> out;
        std::deque<lockstep::Answer> rest;
        for (auto& a : waiting) {
            if (a.cycle < end) out.push_back(a); else rest.push_back(a);
        }
        waiting = rest;
        for (auto& r : requests) waiting.push_back({r.id, r.cycle + atoi(words[1])});
        total += requests.size();
        most = end;
        process.answer(end, out);
    }
    int code = process.wait();
    printf("%s %lld %lld %d\\n", process.gpu.c_str(), (long long)total, (long long)most, code);
}
"""


@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_records_lie_in_cpp_as_they_lie_here(tmp_path):
    lines = []
    for record, dtype in RECORDS.items():
        lines.append(f'printf("%zu ", sizeof(lockstep::{record}));')
        lines += [f'printf("%zu ", offsetof(lockstep::{record}, {n}));' for n in dtype.names]
    names = ("MAGIC", "VERSION", "OVER", *(kind.name for kind in Kind))
    constants = ", ".join(f"(long)lockstep::{name}" for name in names)
    text = (
        '#include "frames.h"\n#include <cstddef>\n#include <cstdio>\nint main() {'
        + "".join(lines)
        + f'printf("%ld %ld %ld %ld %ld %ld %ld", {constants}); }}'
    )
    (tmp_path / "t.cc").write_text(text)
    run = [GXX, "-std=c++17", f"-I{SOURCE}", str(tmp_path / "t.cc"), "-o", str(tmp_path / "t")]
    subprocess.run(run, check=True)
    said = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True).stdout
    expected = []
    for dtype in RECORDS.values():
        expected += [dtype.itemsize, *(dtype.fields[name][1] for name in dtype.names)]
    assert [int(word) for word in said.split()] == [*expected, MAGIC, VERSION, OVER, *Kind]


@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_a_memory_in_cpp_gives_what_one_here_gives(tmp_path, repository):
    (tmp_path / "t.cc").write_text(FIXED)
    command = [GXX, "-std=c++17", "-Wall", "-Werror", f"-I{SOURCE}", str(tmp_path / "t.cc")]
    subprocess.run([*command, "-o", str(tmp_path / "t")], check=True)
    trace = str(repository / "examples" / "vecadd")
    here = FixedMemory(77)
    result = lockstep.simulate(trace, "QV100", outside=here)
    words = [sys.executable, "-m", "lockstep", "simulate", trace, "--gpu", "QV100"]
    said = subprocess.run(
        [tmp_path / "t", "77", *words, "--summary", "short"],
        capture_output=True, text=True, check=True, timeout=300,
        env=os.environ | {"PYTHONPATH": str(repository / "src")},
    ).stdout  # fmt: skip
    assert f"{result.cycles:,} cycles" in said
    assert said.splitlines()[-1] == f"QV100 {len(here.requests)} {here.ends[-1]} 0"


def tool(folder, text):
    path = folder / "sst-config"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_without_sst_it_is_said_what_to_do(tmp_path):
    with pytest.raises(
        LockstepError, match="install sst-core, or name its sst-config by --sst-config"
    ):
        build.build(tmp_path / "out", str(tmp_path / "nothing"))
    assert not (tmp_path / "out").exists()


def test_what_a_compiler_says_is_passed_on(tmp_path):
    compiler = tmp_path / "cxx"
    compiler.write_text(
        "#!/bin/sh\necho 'x: warning: w' >&2\necho 'x: error: no core' >&2\nexit 1\n"
    )
    compiler.chmod(0o755)
    with pytest.raises(LockstepError, match="cxx ended with exit code 1: x: error: no core"):
        build.build(tmp_path / "out", tool(tmp_path, f"[ $1 = --CXX ] && echo {compiler}; exit 0"))


def test_flags_are_those_of_the_tool(tmp_path):
    compiler = tmp_path / "cxx"
    compiler.write_text(f'#!/bin/sh\nfor w in "$@"; do echo "$w"; done > {tmp_path}/said\n')
    compiler.chmod(0o755)
    flags = "--ELEMENT_CXXFLAGS) echo -DA='1 2';; --ELEMENT_LDFLAGS) echo -Lx"
    asks = f"case $1 in --CXX) echo {compiler};; {flags};; esac"
    library = build.build(tmp_path / "out", tool(tmp_path, asks))
    assert library == tmp_path / "out" / "liblockstep.so"
    said = (tmp_path / "said").read_text().splitlines()
    assert said[:3] == ["-DA=1", "2", "-Lx"] and said[-1] == str(SOURCE / "lockstep.cc")
