"""Where the code of a kernel lies: lengths of instructions, and what is fetched for each."""

import numpy as np

from lockstep.gpus.spec import GPU

KEPLER, MAXWELL, VOLTA = 30, 50, 70  # SASS versions
LONGEST_GCN = 8  # bytes


def set_lines(records: np.ndarray, pc: np.ndarray, gpu: GPU, architecture: int) -> None:
    """Complete ISSUE records of instructions at ``pc`` by what is fetched for them.

    That is a line, and which one is fetched when the instruction issues, or -1 if it is the same.
    An SM fetches lines, the one ``front_end.buffer`` instructions ahead. A CU fetches pieces of
    them: the one that the last byte is in, and that as far ahead as one is long.
    """
    front_end = gpu.sm.front_end
    each, end, ahead = front_end.line_bytes, pc, front_end.buffer * _instruction_bytes(architecture)
    spans = _spans(pc, architecture)
    if gpu.core == "cu":
        each = ahead = gpu.cu.fetch_bytes
        spans = _gcn_spans(pc)
        end = pc + np.maximum(spans, 1) - 1
        end[-1:] = pc[-1:]  # nothing says how long the last one is: s_endpgm is short
    records["pc"], records["span"], records["line"] = pc, spans, end // each
    records["ahead"] = np.where((pc + ahead) // each == end // each, -1, (pc + ahead) // each)


def _instruction_bytes(architecture: int) -> int:
    """Bytes of an instruction: 8 up to Pascal, then 16."""
    return 8 if 0 < architecture < VOLTA else 16


def _spans(pc: np.ndarray, architecture: int) -> np.ndarray:
    """Bytes from each instruction to the one behind it, with a control word that may lie between.

    Kepler's code has such a word in every 64 bytes, Maxwell's and Pascal's in every 32.
    """
    size = _instruction_bytes(architecture)
    if not KEPLER <= architecture < VOLTA:
        return np.full(len(pc), size)
    group = 64 if architecture < MAXWELL else 32
    return np.where((pc + size) % group == 0, 2 * size, size)


def _gcn_spans(pc: np.ndarray) -> np.ndarray:
    """Bytes of each instruction of GCN, 4 or 8, from the place of the one behind it."""
    behind = np.append(pc[1:], pc[-1:] + LONGEST_GCN)
    return np.clip(behind - pc, 0, LONGEST_GCN)
