import numpy as np

from lockstep.kernels import Check, blocks, builtin

ACCOUNTS = 13


@builtin(size=2_000, small=300, unit="threads that take a lock, one of thirteen")
def spin_lock(device, module, rng, n):
    """Deposits to accounts under spin locks, within and between warps."""
    amounts = rng.integers(-100, 100, n, dtype=np.int32)
    locks, balances = (device.array(np.zeros(ACCOUNTS, np.int32)) for _ in range(2))
    module["spin_lock"][blocks(n, 64), 64](n, ACCOUNTS, device.array(amounts), locks, balances)
    sums = np.bincount(np.arange(n) % ACCOUNTS, amounts, ACCOUNTS)
    yield Check("balances", balances, lambda: sums)
    yield Check("locks", locks, lambda: np.zeros(ACCOUNTS))
