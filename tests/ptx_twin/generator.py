"""PTX kernels of test cases: load operands, execute, store results."""

from ptx_twin.case import SLOT, access_type, register_type

SCRATCH = 64  # bytes of each thread in each state space
THREADS = 64  # a CTA has no more threads than a case has rows

HEADER = """.version 8.6
.target sm_90
.address_size 64
"""
KERNEL = """
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u64 {name}_work{more})
{{
    .reg .b64 %in, %out, %global, %shared, %local, %generic;
    .reg .b32 %i, %t, %odd;
    .reg .pred %even;
    .shared .align 16 .b8 {name}_shared[{shared_bytes}];
    .local .align 16 .b8 {name}_local[{scratch}];
{declarations}
    mov.u32 %i, %tid.x;
    ld.param.u64 %in, [{name}_in];
    ld.param.u64 %out, [{name}_out];
    ld.param.u64 %global, [{name}_work];
    mad.wide.u32 %in, %i, {in_bytes}, %in;
    mad.wide.u32 %out, %i, {out_bytes}, %out;
    mad.wide.u32 %global, %i, {scratch}, %global;
    mov.u64 %shared, {name}_shared;
    mad.wide.u32 %shared, %i, {scratch}, %shared;
    mov.u64 %local, {name}_local;
{body}
    ret;
}}
"""


def names(number, case):
    """What a template's names stand for in the kernel's case of this number."""
    table = {f"r{i}": f"%r{number}_{i}" for i in range(len(case.results))}
    table |= {f"a{i}": f"%a{i}" for i in range(len(case.operands))}
    return table | {"shared": "%shared", "local": "%local", "global": "%global"}


def declarations(cases):
    for i, kind in enumerate(cases[0].operand_types):
        yield f".reg .{register_type(kind)} %a{i};"
    for number, case in enumerate(cases):
        for i, kind in enumerate(case.results):
            yield f".reg .{register_type(kind)} %r{number}_{i};"


def load(index, kind, uniform):
    place = f"[{uniform}_a{index}]" if uniform else f"[%in+{SLOT * index}]"
    space = "param" if uniform else "global"
    if kind == "pred":
        return f"ld.{space}.b32 %t, {place}; setp.ne.u32 %a{index}, %t, 0;"
    return f"ld.{space}.{access_type(kind)} %a{index}, {place};"


def store(register, slot, kind):
    place = f"[%out+{SLOT * slot}]"
    if kind == "pred":
        return f"selp.b32 %t, 1, 0, {register}; st.global.b32 {place}, %t;"
    return f"st.global.{register_type(kind)} {place}, {register};"


def body(cases, uniform):
    for i, kind in enumerate(cases[0].operand_types):
        yield load(i, kind, uniform)
    slot = 0
    for number, case in enumerate(cases):
        yield case.text.format(**names(number, case))
        for i, kind in enumerate(case.results):
            yield store(f"%r{number}_{i}", slot, kind)
            slot += 1


def indented(lines):
    return "\n".join(f"    {line}" for line in lines)


def slots_of(cases):
    """Results of a thread."""
    return sum(len(case.results) for case in cases)


def kernel_ptx(cases, name="k", uniform=False):
    """One kernel of cases with the same operands; the results of all lie side by side.

    Operands come from memory, or are parameters of the kernel, ``uniform`` for all threads.
    """
    more = [f", .param .u64 {name}_a{i}" for i in range(len(cases[0].operands))] if uniform else []
    return KERNEL.format(
        name=name,
        more="".join(more),
        scratch=SCRATCH,
        shared_bytes=SCRATCH * THREADS,
        declarations=indented(declarations(cases)),
        in_bytes=SLOT * len(cases[0].operands),
        out_bytes=SLOT * slots_of(cases),
        body=indented(body(cases, name if uniform else "")),
    )


def module_ptx(cases):
    """A module with the kernel ``k`` of cases with the same operands."""
    return HEADER + kernel_ptx(cases)


def single_instruction_ptx(case):
    """A module with the kernel ``k`` of one case."""
    return module_ptx([case])
