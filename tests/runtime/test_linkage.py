"""Programs and libraries that the CUDA runtime is linked into."""

import shutil
import subprocess
import sys

import pytest

from lockstep.errors import InputError
from lockstep.frontend.cuda.build import compiler
from lockstep.runtime import run_program
from lockstep.runtime.linkage import check_program
from lockstep.runtime.program import environment

# A runtime of our own that does nothing right, with the names by which a version is told.
RUNTIME = """
#include <stdio.h>
#define BODY { fprintf(stderr, "%s of the program\\n", __func__); return 1; }
char code[8] __attribute__((section(".nv_fatbin"))) = {1};
static int __attribute__((used)) __cudaRegisterFatBinary(void *wrapper) BODY
int cudaRuntimeGetVersion(int *version) BODY
int cudaGetErrorName(int status) BODY
int cudaMallocHost(void **address, size_t bytes) BODY
int cudaFree_(void *address) { return address ? 7 : 8; }  // no function of CUDA
"""
MAIN = """
int main(void) {
    int version = 0, again = 0;
    char *host = NULL;
    if (cudaRuntimeGetVersion(&version) || cudaRuntimeGetVersion(&again)) return 3;
    if (cudaMallocHost((void **)&host, 64) || !host) return 4;
    host[63] = 1;
    printf("%d %d %d\\n", version, again - version, cudaFree_(host));
    return 0;
}
"""
SINCE_11 = "int cudaCtxResetPersistingL2Cache(void) BODY\n"
VERSIONS = {
    "11080": "int cudaBindTexture(void) BODY\n",
    "12090": "int cudaGetDeviceProperties_v2(void *to, int device) BODY\n",
    "13000": "",
}


@pytest.fixture
def build(tmp_path):
    def build(text, *options, name="program"):
        (tmp_path / f"{name}.c").write_text(text)
        command = [compiler(), "-O0", f"{name}.c", "-o", name, *options]
        subprocess.run(command, cwd=tmp_path, check=True)
        return tmp_path / name

    return build


@pytest.mark.parametrize("version", VERSIONS)
def test_functions_in_a_program_are_those_of_the_replacement(version, build, make_simulator, capfd):
    path = build(RUNTIME + SINCE_11 + VERSIONS[version] + MAIN)
    assert run_program(make_simulator(), [str(path)]).code == 0
    assert capfd.readouterr() == (f"{version} 0 7\n", "")


def test_so_are_those_in_a_library_whenever_it_is_loaded(build, make_simulator, capfd, tmp_path):
    text = RUNTIME + SINCE_11 + MAIN.replace("main", "go")
    library = build(text, "-shared", "-fPIC", name="libgo.so")
    path = build("int go(void); int main(void) { return go(); }", str(library))
    assert run_program(make_simulator(), [str(path)]).code == 0
    load = f"import ctypes; ctypes.CDLL({str(library)!r}).go()"
    assert run_program(make_simulator(), [sys.executable, "-c", load]).code == 0
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n{path}\n")
    script.chmod(0o755)
    assert run_program(make_simulator(), [str(script)]).code == 0
    assert capfd.readouterr() == ("13000 0 7\n" * 3, "")


def test_what_cannot_be_replaced_is_refused(build):
    path = build(RUNTIME + SINCE_11 + MAIN)
    check_program(path)
    subprocess.run(["strip", path], check=True)
    with pytest.raises(InputError, match=r"symbols are stripped.*nvcc -cudart shared"):
        check_program(path)
    with pytest.raises(InputError, match="older than CUDA 11"):
        check_program(build(RUNTIME + MAIN))
    with pytest.raises(InputError, match="link without -static"):
        check_program(build(RUNTIME + SINCE_11 + MAIN, "-static"))
    bare = "int cudaMalloc(void **to) { return !to; } int main(void) { return cudaMalloc(0); }"
    with pytest.raises(InputError, match="link without -static"):
        check_program(build(bare, "-static"))  # without kernels of its own
    check_program(build("int main(void) { return 0; }", "-static"))
    with pytest.raises(InputError, match="a shared library, which does not run by itself"):
        check_program(build(RUNTIME + SINCE_11 + MAIN, "-shared", "-fPIC"))


def test_libraries_with_much_memory_of_threads(build, make_simulator, monkeypatch, tmp_path):
    text = '__thread char big[40000] __attribute__((tls_model("initial-exec")));'
    build(f"{text} int use(int i) {{ return big[i]; }}", "-shared", "-fPIC", name="libbig.so")
    options = ("-L.", "-lbig", f"-Wl,-rpath,{tmp_path}")
    path = build("int use(int); int main(void) { return use(9); }", *options)
    assert run_program(make_simulator(), [str(path)]).code == 0
    room = "glibc.rtld.optional_static_tls"
    for had, kept in (("glibc.malloc.check=0", True), (f"{room}=50000", False)):
        monkeypatch.setenv("GLIBC_TUNABLES", had)
        given = environment(tmp_path, "socket", path)["GLIBC_TUNABLES"]
        assert given.startswith(f"{had}:{room}=") if kept else given == had
    monkeypatch.delenv("GLIBC_TUNABLES")
    small = build("int main(void) { return 0; }", name="small")  # threads keep their stacks
    assert "GLIBC_TUNABLES" not in environment(tmp_path, "socket", small)


@pytest.mark.parametrize("options", [(), ("-cudart", "static", "-g"), ("-cudart", "shared")])
def test_what_nvcc_links(options, repository, make_simulator, tmp_path, capfd):
    """Unless it is told otherwise it links the runtime into a program."""
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    source = repository / "examples" / "kernels" / "saxpy" / "main.cu"
    command = ["nvcc", "-std=c++17", "-arch=sm_80", "-o", tmp_path / "saxpy", source, *options]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    simulator = make_simulator()
    assert run_program(simulator, [str(tmp_path / "saxpy"), "1000"]).code == 0
    assert capfd.readouterr() == ("PASS\n", "")
    assert simulator.launches == 1
