"""The gate of an SM or a partition: messages to and from shards on other modules, or other GPUs.

The credit of a message is that of the crossbar for its two ends, wherever they are. What goes to
another module is given to the own module's router; what comes from there lies in an inbox of its
own, and of two that wait the one that arrived first is first.

Where other GPUs are elsewhere, their fabric is that router. Shards of theirs have numbers behind
those of the own ones, and a message needs a place at the fabric instead of the crossbar's credit.
"""

from lockstep._jit import inline
from lockstep.model import link
from lockstep.model.clock import NEVER


@inline
def begin(gate, shard):
    """A shard begins a window."""
    if gate.spec[0].on:
        link.begin(gate.out, shard)
        link.open_inbox(gate.into, shard)


@inline
def is_far(gate, shard, target):
    """Whether a shard of the other kind is on another module."""
    spec = gate.spec[0]
    return spec.on and shard // spec.own != target // spec.others


@inline
def can_send(gate, direct, shard, target):
    """Whether a shard has a credit for a target, and room."""
    far = is_far(gate, shard, target)
    if far and gate.spec[0].fabric:
        return link.can_send(gate.out, shard, 0)
    if not link.can_send(direct, shard, target):
        return False
    return not far or link.has_room(gate.out, shard)


@inline
def has_spare(gate, direct, shard, target):
    """Whether a shard has more than half of its credits for a target."""
    if gate.spec[0].fabric and is_far(gate, shard, target):
        return (
            gate.out.credits[shard, 0] > gate.out.spec[0].in_capacity // direct.spec[0].sources // 2
        )
    credits = direct.spec[0].in_capacity // direct.spec[0].sources
    return direct.credits[shard, target] > max(1, credits // 2)


@inline
def send(gate, direct, shard, target, now):
    """Take a credit and return the message record to fill; it leaves at cycle ``now``."""
    if is_far(gate, shard, target):
        spec = gate.spec[0]
        if spec.fabric:
            gate.out.credits[shard, 0] -= 1
        else:
            direct.credits[shard, target] -= 1
        message = link.put(gate.out, shard, shard // spec.own, now)
        if spec.of_partitions:
            message.source = target  # the SM
        return message
    return link.send(direct, shard, target, now)


@inline
def waiting(gate, direct, shard, now):
    """Whether a message for a shard has arrived by cycle ``now``."""
    if link.waiting(direct, shard, now):
        return True
    return gate.spec[0].on and link.waiting(gate.into, shard, now)


@inline
def next_arrival(gate, shard):
    """The earliest arrival from another module, or NEVER."""
    if gate.spec[0].on and gate.into.ports[shard].count > 0:
        return link.first(gate.into, shard).arrival
    return NEVER


@inline
def is_first(gate, direct, shard):
    """Whether the oldest message of a shard is from another module; it has one."""
    if not gate.spec[0].on or gate.into.ports[shard].count == 0:
        return False
    if direct.ports[shard].count == 0:
        return True
    return link.first(gate.into, shard).arrival < link.first(direct, shard).arrival


@inline
def take(gate, direct, shard):
    """Remove the oldest message from another module, and note that its sender gets a credit."""
    if not gate.spec[0].fabric:
        link.note(direct, shard, link.first(gate.into, shard).source)
    link.drop(gate.into, shard)


@inline
def is_peers(gate, address):
    """Whether an address is in the memory of another GPU of the system."""
    spec = gate.spec[0]
    if not spec.fabric or spec.first <= address < spec.end:
        return False
    return spec.low <= address < spec.high
