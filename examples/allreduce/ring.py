"""All-reduce over a ring of GPUs, as collective libraries do it, by copies between neighbours.

    python examples/allreduce/ring.py DGX_1V 8 --megabytes 64

Each GPU has a buffer of as many chunks as there are GPUs. In the first half of the steps each one
sends a chunk to the next GPU, which adds it to its own; then the sums go round. Chunks are cut into
slices, so that the links carry one while GPUs add another. Two streams of a GPU share its link
fairly: the second one begins when half of the first slice is there, so that they do not end
together, when the link would be idle until both were acknowledged.
"""

import argparse
from pathlib import Path

import numpy as np

import lockstep
from lockstep.gpus import systems
from lockstep.gpus.system import GpuSystem

ADD = Path(__file__).with_name("add.ptx")
RINGS = {("DGX_1V", 8): (0, 3, 2, 1, 5, 6, 7, 4), ("DGX_1V", 4): (0, 1, 2, 3)}
"""Where not every pair has the same links: rings of those with most of them."""
THREADS, MOST_BLOCKS = 256, 160


class Ring:
    """GPUs in the order in which they send, and their buffers."""

    def __init__(self, system: lockstep.System, order: tuple[int, ...], size: int, slices: int):
        """``size``: floats of each buffer; ``slices``: of each chunk."""
        self.devices, self.slices = [system[k] for k in order], slices
        self.count = len(order)
        self.part = size // (self.count * slices)  # floats of a slice
        if self.part % 4 or self.part * self.count * slices != size:
            raise SystemExit(f"{size} floats are not {self.count} x {slices} slices of vectors")
        self.adds = [device.load_ptx(ADD)["add"] for device in self.devices]
        self.buffers = [device.empty(size) for device in self.devices]
        self.arrivals = [device.empty(size) for device in self.devices]  # what came from the left
        self.sums, self.copies = (
            [[device.stream(blocking=False) for _ in range(2)] for device in self.devices]
            for _ in range(2)
        )

    def slice(self, array: "lockstep.device.DeviceArray", chunk: int, number: int):
        """A slice of a chunk of a buffer."""
        first = (chunk % self.count * self.slices + number) * self.part
        return array[first : first + self.part]

    def send(self, sender: int, chunk: int, number: int, ready, adds: bool):
        """One slice to the next GPU, when an event has happened; the event of its being there."""
        device, receiver = self.devices[sender], (sender + 1) % self.count
        stream = self.copies[sender][number % 2]
        if ready is not None:
            stream.wait(ready)
        into = self.arrivals if adds else self.buffers
        source = self.slice(self.buffers[sender], chunk, number)
        target = self.slice(into[receiver], chunk, number)
        if ready is None and number == 0:
            half = self.part // 2
            target[:half].copy_from(source[:half], stream)
            self.copies[sender][1].wait(device.event().record(stream))
            source, target = source[half:], target[half:]
        target.copy_from(source, stream)
        arrived = device.event().record(stream)
        if not adds:
            return arrived
        sums = self.sums[receiver][number % 2]
        sums.wait(arrived)
        operands = [self.slice(a[receiver], chunk, number) for a in (self.buffers, self.arrivals)]
        blocks = min(MOST_BLOCKS, -(-self.part // (4 * THREADS)))
        self.adds[receiver][blocks, THREADS, 0, sums](*operands, self.part // 4)
        return self.devices[receiver].event().record(sums)

    def all_reduce(self) -> None:
        """Queue all of it: every buffer will hold the sum of all."""
        steps = 2 * (self.count - 1)
        ready = [[None] * self.slices for _ in range(self.count)]
        for step in range(steps):
            following = [[None] * self.slices for _ in range(self.count)]
            for number in range(self.slices):
                for sender in range(self.count):
                    event = self.send(
                        sender, sender - step, number, ready[sender][number],
                        adds=step < self.count - 1,
                    )  # fmt: skip
                    following[(sender + 1) % self.count][number] = event
            ready = following


def run(
    spec: GpuSystem, order: tuple[int, ...], size: int, slices: int, **options
) -> tuple[float, float, str]:
    """Seconds that it takes in the model, the least that a link allows, and the result's hash."""
    with lockstep.System(spec, timing=True, **options) as system:
        system.enable_peers()
        ring, gpus = Ring(system, order, size, slices), len(order)
        draw = np.random.default_rng(1)
        values = [draw.integers(0, 100, size).astype(np.float32) for _ in range(gpus)]
        for buffer, content in zip(ring.buffers, values):
            buffer.fill(content)
        system.synchronize()
        ring.all_reduce()
        system.synchronize()
        result = system.result
        peers = result.host.peers
        took = max(peer.end for peer in peers) - min(peer.start for peer in peers)
        moved = 4 * size * gpus  # bytes to the GPUs at first, over the links to the host
        used = [link["gb_per_s"] for link in result.links if link["bytes"]]
        host = [gpu.host.link_bandwidth for gpu in spec.gpus]
        rate = min([gb for gb in used if gb not in host] or used)
        assert sum(peer.bytes for peer in peers) == 2 * (gpus - 1) * moved // gpus
        assert all(np.array_equal(buffer.numpy(), sum(values)) for buffer in ring.buffers)
    return took * 1e-12, 2 * (gpus - 1) / gpus * 4 * size / (rate * 1e9), result.hash


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", help="a preset, such as DGX_1V, or a file")
    parser.add_argument("gpus", type=int)
    parser.add_argument("--megabytes", type=int, default=16, help="of each buffer")
    parser.add_argument("--slices", type=int, default=4, help="of each chunk")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="change a parameter of the GPUs")
    given = parser.parse_args()
    spec = systems.system(given.system, given.gpus, tuple(given.set))
    order = RINGS.get((spec.name, given.gpus), tuple(range(given.gpus)))
    size = given.megabytes << 18
    took, ideal, _ = run(spec, order, size, given.slices, threads=given.threads)
    print(
        f"all-reduce of {given.megabytes} MiB on {given.gpus} GPUs of {given.system}: "
        f"{took * 1e6:.1f} us, {took / ideal:.3f} of the ideal {ideal * 1e6:.1f} us"
    )
