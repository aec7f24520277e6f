"""PTX kernels of test cases: load operands, execute, store results."""

from ptx_twin.case import SLOT, access_type, register_type

SCRATCH = 64  # bytes of each thread in each state space
THREADS = 96  # a CTA of one case has no more rows than this

HEADER = """.version 8.6
.target sm_90
.address_size 64
"""
ENTRY = """
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u64 {name}_work)
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
{loads}
    {text}
{stores}
    ret;
}}
"""


def names(case):
    """What a template's names stand for."""
    table = {f"r{i}": f"%r{i}" for i in range(len(case.results))}
    table |= {f"a{i}": f"%a{i}" for i in range(len(case.operands))}
    return table | {"shared": "%shared", "local": "%local", "global": "%global"}


def declarations(case):
    for letter, kinds in (("r", case.results), ("a", case.operand_types)):
        for i, kind in enumerate(kinds):
            yield f".reg .{register_type(kind)} %{letter}{i};"


def load(index, kind):
    place = f"[%in+{SLOT * index}]"
    if kind == "pred":
        return f"ld.global.b32 %t, {place}; setp.ne.u32 %a{index}, %t, 0;"
    return f"ld.global.{access_type(kind)} %a{index}, {place};"


def store(index, kind):
    place = f"[%out+{SLOT * index}]"
    if kind == "pred":
        return f"selp.b32 %t, 1, 0, %r{index}; st.global.b32 {place}, %t;"
    return f"st.global.{register_type(kind)} {place}, %r{index};"


def indented(lines):
    return "\n".join(f"    {line}" for line in lines)


def entry(case, name):
    loads = [load(i, kind) for i, kind in enumerate(case.operand_types)]
    stores = [store(i, kind) for i, kind in enumerate(case.results)]
    return ENTRY.format(
        name=name,
        scratch=SCRATCH,
        shared_bytes=SCRATCH * THREADS,
        declarations=indented(declarations(case)),
        in_bytes=SLOT * len(case.operands),
        out_bytes=SLOT * len(case.results),
        loads=indented(loads),
        text=case.text.format(**names(case)),
        stores=indented(stores),
    )


def single_instruction_ptx(case):
    """A module whose kernel ``k0`` is the case."""
    return module_ptx([case])


def module_ptx(cases):
    """A module whose kernels ``k0``, ``k1`` ... are the cases."""
    return HEADER + "".join(entry(case, f"k{i}") for i, case in enumerate(cases))
