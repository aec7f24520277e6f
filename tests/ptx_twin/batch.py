"""Many cases in one kernel, one scope each: a translation for all of them."""

import numpy as np

from ptx_twin.case import SLOT
from ptx_twin.cases import operand_bytes, results_of
from ptx_twin.generator import HEADER, SCRATCH, declarations, indented, load, names, store

ENTRY = """
.visible .entry batch(.param .u64 p_in, .param .u64 p_out, .param .u64 p_work)
{{
    .reg .b64 %ins, %outs, %works;
    .reg .b32 %i;
    .shared .align 16 .b8 memory_shared[{shared_bytes}];
    .local .align 16 .b8 memory_local[{scratch}];
    mov.u32 %i, %tid.x;
    ld.param.u64 %ins, [p_in];
    ld.param.u64 %outs, [p_out];
    ld.param.u64 %works, [p_work];
{scopes}
    ret;
}}
"""
SCOPE = """
    {{
    .reg .b64 %in, %out, %global, %shared, %local, %generic;
    .reg .b32 %t, %odd;
    .reg .pred %even;
{declarations}
    add.u64 %in, %ins, {in_start};
    mad.wide.u32 %in, %i, {in_bytes}, %in;
    add.u64 %out, %outs, {out_start};
    mad.wide.u32 %out, %i, {out_bytes}, %out;
    mad.wide.u32 %global, %i, {scratch}, %works;
    mov.u64 %shared, memory_shared;
    mad.wide.u32 %shared, %i, {scratch}, %shared;
    mov.u64 %local, memory_local;
{loads}
    {text}
{stores}
    }}
"""


def _starts(sizes):
    return [sum(sizes[:k]) for k in range(len(sizes))]


def sizes_of(cases, part):
    """Bytes of the operands or results of each case."""
    return [len(getattr(case, part)) * SLOT * cases[0].rows for case in cases]


def batch_ptx(cases):
    """A module whose kernel ``batch`` executes the cases in turn; all have as many rows."""
    scopes = []
    inputs, outputs = (_starts(sizes_of(cases, p)) for p in ("operands", "results"))
    for case, in_start, out_start in zip(cases, inputs, outputs):
        loads = [load(k, kind) for k, kind in enumerate(case.operand_types)]
        stores = [store(k, kind) for k, kind in enumerate(case.results)]
        scopes.append(
            SCOPE.format(
                declarations=indented(declarations(case)),
                in_start=in_start,
                out_start=out_start,
                in_bytes=SLOT * len(case.operands),
                out_bytes=SLOT * len(case.results),
                scratch=SCRATCH,
                loads=indented(loads),
                text=case.text.format(**names(case)),
                stores=indented(stores),
            )
        )
    shared = SCRATCH * cases[0].rows
    return HEADER + ENTRY.format(shared_bytes=shared, scratch=SCRATCH, scopes="".join(scopes))


def run_batch(device, cases, rows):
    """Result rows of each case on a device; ``rows`` are the operand rows of each."""
    module = device.load_ptx(batch_ptx(cases))
    operands = b"".join(operand_bytes(r) for r in rows)
    source = device.array(np.frombuffer(operands, np.uint8))
    sizes = sizes_of(cases, "results")
    target = device.array(np.zeros(sum(sizes), np.uint8))
    work = device.array(np.zeros(SCRATCH * cases[0].rows, np.uint8))
    module["batch"][1, cases[0].rows](source, target, work)
    content = target.numpy().tobytes()
    return [
        results_of(case, content[start : start + size])
        for case, start, size in zip(cases, _starts(sizes), sizes)
    ]
