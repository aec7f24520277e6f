"""What programs ask of code: the kernels of modules, and the logs of the compiler of PTX."""

import pytest

HEAD = """
TEXT = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry first(.param .u64 x) { ret; }
.visible .entry second() { .reg .b32 %r<2>; BODY ret; }
'''
def ptx(body=b""):
    return TEXT.replace(b"BODY", body)
class Log:
    def __init__(self, size=200):
        self.info, self.errors = create_string_buffer(size), create_string_buffer(b"?" * size)
        self.options = (c_int * 5)(3, 4, 5, 6, 2)
        self.values = (c_void_p * 5)(addressof(self.info), size, addressof(self.errors), size, 7)
    def show(self):
        sizes = self.values[1] or 0, self.values[3] or 0, self.values[4]
        print(self.info.value.decode(), sizes, self.errors.value.decode(), sep="|", file=out)
module, count = c_void_p(), c_uint()
"""
WRONG = "error: <ptx>, line 5, column 45: the PTX ISA has no instruction foo.bar"


@pytest.fixture
def run(run_python):
    def run(text, **options):
        outcome, out, simulator = run_python(HEAD + text, **options)
        assert outcome.code == 0 and not simulator.unsupported
        return out.splitlines()

    return run


def test_kernels_of_a_module_are_counted_and_listed(run):
    lines = run("""
name = c_char_p()
print(cu.cuModuleLoadData(byref(module), ptx()), file=out)
for api in ("cuModule%sFunction%s", "cuLibrary%sKernel%s"):
    kernels = (c_void_p * 3)()
    print(getattr(cu, api % ("Get", "Count"))(byref(count), module), count.value, file=out)
    print(getattr(cu, api % ("Enumerate", "s"))(kernels, 1, module), bool(kernels[1]), file=out)
    print(getattr(cu, api % ("Enumerate", "s"))(kernels, 3, module), bool(kernels[2]), file=out)
    for kernel in kernels[:2]:
        print(cu.cuFuncGetName(byref(name), c_void_p(kernel)), name.value, file=out)
print(cu.cuModuleGetFunctionCount(None, module), cu.cuModuleGetFunctionCount(byref(count), 5),
      cu.cuModuleEnumerateFunctions(None, 1, module), file=out)
found = c_void_p()
print(cu.cuModuleGetFunction(byref(found), module, b"second"), found.value == kernels[1], file=out)
""")
    each = ["0 2", "0 False", "0 False", "0 b'first'", "0 b'second'"]
    assert lines == ["0", *each, *each, "1 400 1", "0 True"]


def test_kernels_of_a_library_are_launched(run):
    lines = run("""
class Dim3(Structure):
    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]
one, kernels = Dim3(1, 1, 1), (c_void_p * 2)()
print(rt.cudaLibraryLoadData(byref(module), ptx(), None, None, 0, None, None, 0), file=out)
print(rt.cudaLibraryGetKernelCount(byref(count), module), count.value, file=out)
print(rt.cudaLibraryEnumerateKernels(kernels, 2, module), file=out)
kernel = c_void_p(kernels[1])
print(rt.cudaLaunchKernel(kernel, one, one, None, c_size_t(0), None), file=out)
print(rt.cudaDeviceSynchronize(), rt.cudaLibraryGetKernelCount(None, module), file=out)
""")
    assert lines == ["0", "0 2", "0", "0", "0 1"]


def test_a_module_that_is_no_ptx_says_why_in_its_log(run):
    lines = run("""
for body in (b"", b"foo.bar %r1;", b"mov.u32 %r1;", b"mov.u32 %r1, gone;"):
    log = Log()
    print(cu.cuModuleLoadDataEx(byref(module), ptx(body), 5, log.options, log.values), file=out)
    log.show()
""")
    assert lines[0::2] == ["0", "218", "218", "218"]
    assert lines[1] == "|(0, 0, None)|"
    assert lines[3] == f"|(0, {len(WRONG)}, None)|{WRONG}"
    assert "line 5, column 45: mov.u32 takes 2 operands, not 1" in lines[5]
    assert "line 5, column 58: expected a declared register" in lines[7]


def test_a_log_is_as_long_as_there_is_room(run):
    lines = run("""
for size in (10, 1, 0):
    log = Log(size)
    cu.cuModuleLoadDataEx(byref(module), ptx(b"foo.bar %r1;"), 5, log.options, log.values)
    print(log.values[3] or 0, log.errors.raw[:size], file=out)
""")
    assert lines == [f"9 {WRONG[:9].encode() + bytes(1)!r}", "0 b'\\x00'", "0 b''"]


def test_libraries_have_logs(run):
    lines = run("""
log = Log()
print(cu.cuLibraryLoadData(byref(module), ptx(b"foo.bar %r1;"), log.options, log.values, 4,
                           None, None, 0), file=out)
log.show()
log = Log()
print(rt.cudaLibraryLoadData(byref(module), ptx(b"foo.bar %r1;"), log.options, log.values, 4,
                             None, None, 0), file=out)
log.show()
""")
    shown = f"|(0, {len(WRONG)}, 7)|{WRONG}"
    assert lines == ["218", shown, "218", shown]


def test_the_linker_has_logs(run):
    """Each input is looked at when it comes, and all together in the end."""
    lines = run("""
def add(state, text):
    return cu.cuLinkAddData_v2(state, 1, text, c_size_t(len(text)), b"x", 0, None, None)
state, log, image = c_void_p(), Log(), c_void_p()
print(cu.cuLinkCreate_v2(4, log.options, log.values, byref(state)), file=out)
print(add(state, ptx(b"foo.bar %r1;")), file=out)
log.show()
log.values[3] = 200
print(add(state, ptx()), add(state, ptx()), file=out)
log.values[3] = 200
print(cu.cuLinkComplete(state, byref(image), None), file=out)
log.show()
print(cu.cuLinkDestroy(state), file=out)
""")
    assert lines[:3] == ["0", "218", f"|(0, {len(WRONG)}, 7)|{WRONG}"]
    assert lines[3:5] == ["0 0", "218"]
    assert "first is defined in line" in lines[5] and lines[6] == "0"
