import shutil
import subprocess

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection

from lockstep import store
from lockstep.errors import LockstepError
from lockstep.frontend.cuda import build

SOURCES = build.SOURCES


@pytest.fixture(scope="module")
def folder():
    if not any(map(shutil.which, build.COMPILERS)):
        pytest.skip("needs a C compiler, and there is none")
    return build.libraries()


def empty_cache(monkeypatch, folder):
    place = store.Place(folder, writable=True)
    monkeypatch.setattr(store.places, "places", lambda: (place,))


def exported(elf):
    symbols = elf.get_section_by_name(".dynsym").iter_symbols()
    return {s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF"}


@pytest.mark.parametrize("name", [*build.RUNTIMES.values(), build.DRIVER])
def test_each_library_has_its_name(folder, name):
    with (folder / name).open("rb") as file:
        elf = ELFFile(file)
        tags = next(s for s in elf.iter_sections() if isinstance(s, DynamicSection))
        assert [t.soname for t in tags.iter_tags("DT_SONAME")] == [name]
        assert build.CORE in [t.needed for t in tags.iter_tags("DT_NEEDED")]


@pytest.mark.parametrize("name", build.RUNTIMES.values())
def test_the_runtime_exports_versioned_functions_alone(folder, name):
    with (folder / name).open("rb") as file:
        elf = ELFFile(file)
        names = exported(elf)
        (versions,) = (s for s in elf.iter_sections() if isinstance(s, GNUVerDefSection))
        nodes = [aux.name for _, auxes in versions.iter_versions() for aux in auxes]
    assert name in nodes
    assert {"cudaMalloc", "cudaLaunchKernel", "cudaMemcpy_ptds", "__cudaGetKernel"} <= names
    assert not [n for n in names if not n.startswith(("cuda", "__cuda", "libcudart"))]


def test_the_driver_exports_what_is_implemented_and_what_is_not(folder):
    with (folder / build.DRIVER).open("rb") as file:
        names = exported(ELFFile(file))
    assert {
        "cuLaunchKernel",
        "cuMemAlloc_v2",
        "cuGetProcAddress_v2",
        "cuTensorMapEncodeTiled",
        "cuGraphLaunch",
        "cuStreamWaitValue32",
        "cuLaunchKernel_ptsz",
        "cuMemcpyHtoD_v2_ptds",
    } <= names
    assert not [n for n in names if not n.startswith("cu")]


def test_the_core_exports_no_name_that_a_program_may_have(folder):
    with (folder / build.CORE).open("rb") as file:
        names = exported(ELFFile(file))
    assert f"{build.PREFIX}graph_add" in names
    assert [n for n in names if not n.startswith(build.PREFIX)] == []


@pytest.mark.parametrize("names", sorted(path.name for path in SOURCES.glob("*.txt")))
def test_the_lists_of_functions_are_sorted(names):
    listed = (SOURCES / names).read_text().split()
    assert listed == sorted(set(listed))


# Bytes of cudaDeviceProp in the headers of CUDA 11.8, 12.9 and 13.0.
@pytest.mark.parametrize("version, size", [(11, 728), (12, 1032), (13, 1008)])
def test_the_structure_of_properties_has_its_size(folder, tmp_path, version, size):
    text = (
        (SOURCES / "device.c").read_text()
        + f"""
_Static_assert(sizeof(struct properties) == {size}, "size");"""
    )
    (tmp_path / "check.c").write_text(text)
    compiler = next(filter(shutil.which, build.COMPILERS))
    options = [f"-DRUNTIME={version}", f"-I{folder}", f"-I{SOURCES}"]
    command = [compiler, "-fsyntax-only", *options, tmp_path / "check.c"]
    subprocess.run(command, check=True, timeout=60)


def no_warnings(folder, sources, *options):
    compiler = next(filter(shutil.which, build.COMPILERS))
    options = [*options, f"-I{folder}", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    command = [compiler, "-fsyntax-only", *options, *(SOURCES / name for name in sources)]
    subprocess.run(command, check=True, timeout=60)


@pytest.mark.parametrize("version", build.RUNTIMES)
def test_the_sources_of_the_runtime_have_no_warnings(folder, version):
    no_warnings(folder, build.RUNTIME_SOURCES, f"-DRUNTIME={version}")


@pytest.mark.parametrize("sources", [build.CORE_SOURCES, build.DRIVER_SOURCES])
def test_other_sources_have_no_warnings(folder, sources):
    no_warnings(folder, sources)


def test_every_source_is_built():
    built = {*build.CORE_SOURCES, *build.RUNTIME_SOURCES, *build.DRIVER_SOURCES}
    built |= {*build.STATIC_SOURCES}
    assert built == {path.name for path in SOURCES.glob("*.c")}


def test_it_is_built_once(folder, monkeypatch):
    monkeypatch.setattr(build, "_build", None)
    assert build.libraries() == folder


def test_without_a_compiler(monkeypatch, tmp_path):
    empty_cache(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(LockstepError, match=r"no C compiler: .* needs cc, gcc or clang"):
        build.libraries()


def test_a_compiler_that_fails(monkeypatch, tmp_path):
    empty_cache(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("CC", "false")
    with pytest.raises(LockstepError, match=r"cannot build liblockstep_gpu.so with false"):
        build.libraries()
    assert not list((tmp_path / "cache" / "runtime").iterdir())
