"""Banks of the L1: which of them a transaction takes, of sectors or of tags."""

from lockstep._jit import inline

FOLDED_BITS = 16  # of a line's number: 8 MB


@inline
def tag_bank(line, bits):
    """The tag bank of a line: its low bits, folded, so that strides of 2^n spread, too."""
    bank = 0
    line &= (1 << FOLDED_BITS) - 1
    for shift in range(0, FOLDED_BITS, bits):
        bank ^= line >> shift
    return bank & ((1 << bits) - 1)


@inline
def banks_of(spec, transaction):
    """Bit mask of the banks that a transaction's sectors lie in, or of its tag bank."""
    if spec.tag_bits > 0:
        return 1 << tag_bank(transaction.line, spec.tag_bits)
    mask = 0
    for sector in range(spec.sectors):
        if (transaction.sectors >> sector) & 1:
            mask |= 1 << ((transaction.line * spec.sectors + sector) % spec.banks)
    return mask
