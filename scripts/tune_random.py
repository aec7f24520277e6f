"""Make GPUs at random, measure them in simulation, and see whether the tuner finds them again.

``python scripts/tune_random.py --gpus 20`` prints a table of all parameters that were changed: by
how much the tuner is off in each GPU, and exits with 1 if a direct one is not exact or a fitted one
is off by more than 5 %. The tuner gets the rows and the base, no more.
"""

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from lockstep.gpus import fields, library
from lockstep.gpus.spec import GPU
from lockstep.tuning import infer, read_rows
from lockstep.tuning.fit import fit
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.simulation import simulated

BASE = "H100_SXM"
MEASURED = Path(__file__).parents[1] / "src/lockstep/microbench/data/h100-sxm.csv.xz"
CLOSE = 0.05  # by which a fitted parameter may be off

MANY = 32  # warps, with which a rate is highest
CHASES = ("lat.chase_ca",)
NEAREST, FOOTPRINT = "footprint=4096 stride=128", "footprint=1048576"  # in the L1, and past it

Chance = random.Random
CHANGES: dict[str, Callable[[Chance], object]] = {
    "sm.units.fp64.lanes": lambda c: c.choice((2, 4, 8, 16)),
    "sm.units.sfu.lanes": lambda c: c.choice((2, 4, 8)),
    "sm.units.sfu.operations.SFU": lambda c: c.randint(17, 40),
    "sm.units.sfu.operations.CONVERT": lambda c: c.randint(17, 40),
    "sm.units.shuffle.operations.SHUFFLE": lambda c: c.randint(15, 40),
    "sm.units.reduction.lanes": lambda c: c.choice((1, 2, 4)),
    "sm.units.reduction.operations.REDUX": lambda c: c.randint(33, 60),
    "sm.units.reduction.operations.MATCH": lambda c: c.randint(310, 500),
    "sm.units.reduction.intervals.MATCH": lambda c: c.randint(50, 300),
    "sm.units.tensor.operations.DMMA": lambda c: c.randint(40, 60),
    "sm.units.tensor.intervals.HMMA": lambda c: c.randint(4, 20),
    "sm.units.tensor.intervals.IMMA": lambda c: c.randint(4, 20),
    "sm.units.tensor.intervals.DMMA": lambda c: c.randint(8, 40),
    "shared.latency": lambda c: c.randint(17, 40),
    "shared.pass_latency": lambda c: c.randint(1, 4),
    "sm.units.shuffle.operations.SHFL_IDX": lambda c: c.randint(15, 40),
    "sm.units.tensor.intervals.HMMA_1688_F32": lambda c: c.randint(3, 20),
    "sm.units.tensor.intervals.HGMMA_64x8x16": lambda c: c.randint(10, 30),
    "sm.units.tensor.intervals.GMMA": lambda c: c.randint(20, 60),
    "sm.units.special_register.operations.B2R": lambda c: c.randint(20, 60),
    "sm.fence_interval": lambda c: max(8, c.randint(0, 30)),
    "sm.system_fence_round_trip": lambda c: c.randint(1000, 1500),
    "sm.lone_cluster_barrier_latency": lambda c: c.randint(45, 90),
    "shared.remote_latency": lambda c: c.randint(150, 300),
    "shared.remote_interval": lambda c: c.randint(3, 12),
    "sm.barrier_latency": lambda c: c.randint(9, 30),
    "sm.barrier_interval": lambda c: c.randint(0, 4),
    "sm.named_barrier_latency": lambda c: c.randint(0, 20),
    "sm.fence_round_trip": lambda c: c.randint(500, 900),
    "sm.cluster_barrier_latency": lambda c: c.randint(45, 200),
    "sm.front_end.redirect": lambda c: c.randint(6, 14),
    "sm.front_end.divergence": lambda c: c.randint(6, 20),
    "launch.cta_interval": lambda c: round(c.uniform(0.8, 3.0), 2),
    "l1.latency": lambda c: c.randint(25, 60),
    "l2.latency": lambda c: c.randint(210, 340),
    "dram.latency": lambda c: c.randint(450, 900),
    "constant.latency": lambda c: c.randint(20, 40),
}
"""What differs from the base, and within which bounds.

Not among them is what machine code says itself: where the compiler waits a fixed number of cycles
for a result, no row depends on the GPU's latency. Nor is what something else hides: a latency below
its unit's interval, a divergence below the stall counts of the branches around it, fences that
follow each other faster than warps issue them.
"""


def random_gpu(seed: int) -> GPU:
    """The base with every parameter of ``CHANGES`` changed."""
    chance = Chance(seed)
    changes = {path: change(chance) for path, change in CHANGES.items()}
    return library.replace(library.gpu(BASE), **changes)


def rows_for(names: Sequence[str] | None = None) -> list[Row]:
    """Rows that tell the parameters of ``CHANGES``; of these benchmarks only if they are given."""
    tuned = infer(read_rows(MEASURED), library.loaded(BASE))
    found = {**tuned.found, **tuned.statistics}
    rows = [row for path, f in found.items() if path in CHANGES for row in f.seen]
    rows += [Row(name, f"{FOOTPRINT} stride=128 sequential", 0, "") for name in CHASES]
    return [row for row in rows if _is_enough(row) and (names is None or row.name in names)]


def _is_enough(row: Row) -> bool:
    """Of many rows that show the same, those are simulated that show it best."""
    if row.name.startswith("thr."):
        return row.keys.get("warps", MANY) == MANY
    return row.name not in CHASES or row.parameters.startswith((NEAREST, FOOTPRINT))


def found_again(gpu: GPU, rows: list[Row], say=lambda text: None) -> tuple[Rows, dict, dict]:
    """The simulated rows of a GPU, and what the tuner makes of them: parameters, kinds."""
    measured = simulated(gpu, rows, say)
    tuned = infer(measured, library.loaded(BASE))
    fit(tuned, measured, simulated, say=say)
    return measured, tuned.parameters, {p: f.inference.kind for p, f in tuned.found.items()}


@click.command()
@click.option("--gpus", default=20, show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of the first GPU.")
@click.option("--verbose", is_flag=True)
def main(gpus: int, seed: int, verbose: bool) -> None:
    """Print the table."""
    rows, bad = rows_for(), 0
    worst: dict[str, list] = {}
    for number in range(seed, seed + gpus):
        gpu = random_gpu(number)
        truth = fields.flatten(gpu)
        _, got, kinds = found_again(gpu, rows, print if verbose else lambda text: None)
        for path in CHANGES:
            kind = kinds.get(path, "not found")
            off = abs(got[path] - truth[path]) / max(abs(truth[path]), 1)
            wrong = kind == "not found" or off > (CLOSE if kind == "fitted" else 0)
            bad += wrong
            worst.setdefault(path, []).append(off)
            if wrong or verbose:
                print(f"GPU {number}: {path}: {truth[path]}, {kind} {got[path]}", flush=True)
        print(f"GPU {number}: {sum(o[-1] == 0 for o in worst.values())} of {len(CHANGES)} exact")
    print(f"\n{'parameter':44}{'exact':>8}{'worst':>9}")
    for path, offs in worst.items():
        print(f"{path:44}{sum(o == 0 for o in offs):>5}/{len(offs)}{max(offs):>9.1%}")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
