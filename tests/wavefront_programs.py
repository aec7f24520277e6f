"""Hand-made streams of wavefronts: lists of what each does, as workloads."""

import numpy as np

from lockstep.isa.instruction import OpClass, Space, blank
from lockstep.workload import ADDRESS, RUN, WARP, Code, Cta, Kernel, Workload

LANES = (1 << 64) - 1
LINE = 64
OPS = {
    "valu": dict(op=OpClass.FP32),
    "f64": dict(op=OpClass.FP64, text="v_mul_f64"),
    "add_f64": dict(op=OpClass.FP64, text="v_add_f64"),
    "transcendental": dict(op=OpClass.SFU),
    "multiply": dict(op=OpClass.IMAD),
    "scalar": dict(op=OpClass.SCALAR),
    "branch": dict(op=OpClass.BRANCH),
    "barrier": dict(op=OpClass.BARRIER),
    "end": dict(op=OpClass.EXIT),
    "load": dict(op=OpClass.LOAD, space=Space.GLOBAL, width=4),
    "store": dict(op=OpClass.STORE, space=Space.GLOBAL, width=4),
    "lds": dict(op=OpClass.LOAD, space=Space.SHARED, width=4),
    "lds_two": dict(op=OpClass.LOAD, space=Space.SHARED, width=4, text="ds_read2_b32"),
    "scalar_load": dict(op=OpClass.SCALAR_LOAD, width=16),
}


def wait(vector=15, export=7, lgkm=31):
    """An s_waitcnt."""
    return dict(op=OpClass.WAIT_COUNT, immediate=vector | export << 4 | lgkm << 8)


def long(name):
    """An operation in 8 bytes of code, where others take 4."""
    return dict(OPS[name], bytes=8)


def record(pc, what):
    """The INSTRUCTION record, its length, and the address of a memory instruction.

    That is (first, stride); of what touches no memory None.
    """
    name, *address = what if isinstance(what, tuple) else (what,)
    fields = dict(OPS[name]) if isinstance(name, str) else dict(name)
    text, size = fields.pop("text", ""), fields.pop("bytes", 4)
    r = blank()
    r["pc"] = pc
    for key, value in fields.items():
        r[key] = value
    place = None
    if r["width"][0] > 0:
        first, stride = (*address, 0, 4)[:2] if len(address) < 2 else address[:2]
        place = first, stride
    return r, text, place, size


def make(*programs, groups=1, vgprs=8, sgprs=16, lds=0, masks=None):
    """A workload: each of the groups has a wavefront for each program, a list of OPS.

    The code of each begins with a line of the instruction cache.
    """
    code, texts, streams = [], [], []
    n = pc = 0
    for program in programs:
        places, first = [], n
        pc = -(-pc // LINE) * LINE
        for what in program:
            r, text, place, size = record(pc, what)
            pc += size
            if text not in texts:
                texts.append(text)
            r["text"] = texts.index(text)
            code.append(r)
            if place is not None:
                places.append(place)
            n += 1
        streams.append((first, len(program), places))
    runs, addresses, warps = [], [], []
    for w, (first, count, places) in enumerate(streams):
        mask = np.uint64(masks[w] if masks else LANES).astype(np.int64)
        warps.append((len(runs), 1, len(addresses), len(places), count, 64 * count))
        runs.append((first, count, mask))
        addresses += [(a, stride, -1) for a, stride in places]

    def ctas():
        for g in range(groups):
            yield Cta(
                (g, 0, 0),
                np.array(warps, WARP),
                np.array(runs, RUN),
                np.array(addresses, ADDRESS),
                np.zeros(0, np.int64),
            )

    kernel = Kernel(
        id=1,
        name="wavefronts",
        grid=(groups, 1, 1),
        block=(64 * len(programs), 1, 1),
        registers=vgprs,
        scalar_registers=sgprs,
        shared_bytes=lds,
        code=Code(np.concatenate(code), texts),
        ctas=ctas,
        warp_size=64,
    )
    return Workload("wavefronts", [kernel])
