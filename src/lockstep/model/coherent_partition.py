"""Memory partitions under a coherence protocol through time: the phase of homes and directories.

As ``partition.py``, with two networks more: forwards to L1s, and their answers, which are taken
before requests and wait for none.
"""

import numpy as np

from lockstep._jit import Context, inline, jit
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model import link, reply_port
from lockstep.model.cache import data_port, l2_fill, l2_stalls
from lockstep.model.cache.l2_lines import locate
from lockstep.model.clock import NEVER
from lockstep.model.coherence import home
from lockstep.model.coherence.rules import COHERENT
from lockstep.model.dram import controller
from lockstep.model.link import Link
from lockstep.model.memory import QUEUE, Memory
from lockstep.model.partition import count_clocks, count_stall, queue_freed


class LinkedHomes(Context):
    """All partitions, with the links that join them to L1s."""

    memory: Memory
    requests: Link
    replies: Link
    forwards: Link
    answers: Link


@jit
def run_linked(state, first, last, step, start, end):
    """Take every ``step``-th partition from ``first`` on through a window, as ``partition.run``."""
    memory = state.memory
    event = NEVER
    for p in range(first, last, step):
        link.begin(state.replies, p)
        link.begin(state.forwards, p)
        link.open_inbox(state.requests, p)
        link.open_inbox(state.answers, p)
        now = max(start, min(memory.next[p], _next_arrival(state, p)))
        while now < end:
            now = _step(state, p, now, end)
        count_clocks(memory.l2.dram, p, end)
        memory.next[p] = now
        event = min(event, now)
    return event


@inline
def _next_arrival(state, p):
    """The core cycle at which the next message can be taken out of an inbox."""
    at = NEVER
    if state.answers.ports[p].count > 0:
        at = link.first(state.answers, p).arrival
    if state.requests.ports[p].count > 0:
        message = link.first(state.requests, p)
        spec = state.memory.l2.spec[0]
        if state.memory.l2.slices[message.slice].count[QUEUE] < spec.queue:
            at = min(at, message.arrival)
    return at


@inline
def _step(state, p, now, end):
    """One core cycle of a partition; returns the next at which it has something to do."""
    memory = state.memory
    dram = memory.l2.dram
    pick = memory.l2.policies.pick
    channel = dram.channels[p]
    while channel.next <= clocks.ticks(dram.spec[0].clock, now):
        controller.step(dram, pick, p, channel.next)
    _take_answers(state, p, now)
    if state.requests.ports[p].count > 0:
        _receive(state, p, now)
    soonest = NEVER
    count = memory.l2.spec[0].slices
    slice_ = p * count + now % count
    for _ in range(count):
        slice_ = slice_ + 1 if slice_ + 1 < (p + 1) * count else p * count
        cache = memory.l2.slices[slice_]
        if queue_freed(dram, p, cache):
            cache.retry = 1
            cache.next = now
        if cache.retry or min(cache.next, l2_fill.next_fill(memory.l2, slice_)) <= now:
            cache.next = _step_slice(state, slice_, now, end)
        soonest = min(soonest, _send_forward(state, slice_, now, end))
        soonest = min(soonest, cache.next, l2_fill.next_fill(memory.l2, slice_))
    soonest = max(now + 1, min(soonest, _next_arrival(state, p)))
    channel.freed[0] = 0
    channel.freed[1] = 0
    return min(soonest, controller.run(dram, pick, p, min(soonest, end)))


@inline
def _take_answers(state, p, now):
    """Take the answers of L1s that are here; one that lacks room waits, with those behind it."""
    memory = state.memory
    tick = clocks.ticks(memory.l2.spec[0].l2, now)
    while link.waiting(state.answers, p, now):
        message = link.first(state.answers, p)
        slice_ = np.int64(message.slice)
        scratch = lists.take(memory.l2.slices[slice_], memory.l2.entries)
        locate(memory, memory.l2.entries[scratch], slice_, message.address)
        row = np.int64(memory.l2.entries[scratch].row)
        lists.release(memory.l2.entries, memory.l2.slices[slice_], scratch)
        if not home.answered(memory, slice_, row, message, tick, now):
            return
        memory.l2.slices[slice_].next = min(memory.l2.slices[slice_].next, now)
        link.take(state.answers, p)


@inline
def _receive(state, p, now):
    """Move requests from the inbox to the slices' queues, in order, while there is room."""
    memory, requests = state.memory, state.requests
    spec, entries = memory.l2.spec[0], memory.l2.entries
    tick = clocks.ticks(spec.l2, now)
    while link.waiting(requests, p, now):
        message = link.first(requests, p)
        slice_ = np.int64(message.slice)
        cache = memory.l2.slices[slice_]
        if cache.count[QUEUE] >= spec.queue:
            break
        index = lists.take(cache, entries)
        request = entries[index]
        cache.port_free = max(cache.port_free, tick) + message.flits
        request.kind, request.source, request.home = message.kind, message.source, slice_
        locate(memory, request, slice_, message.address)
        request.sectors = request.left = 1
        request.full, request.tag, request.policy = message.full, message.tag, message.policy
        request.refusals, request.issued = message.refusals, message.issued
        memory.homes.masks[index] = message.mask
        request.ready = cache.port_free - 1
        lists.append(entries, cache, QUEUE, index)
        if cache.count[QUEUE] == 1:
            cache.next = min(cache.next, max(clocks.cycle_of(spec.l2, request.ready), now))
        link.take(requests, p)


@inline
def _take_fills(memory, slice_, now):
    """Take data that came from the DRAM, as far as there is room."""
    cache, dram = memory.l2.slices[slice_], memory.l2.dram
    tick = clocks.ticks(memory.l2.spec[0].l2, now)
    while l2_fill.next_fill(memory.l2, slice_) <= now:
        index = cache.return_head
        after = dram.slots[index].next
        cache.filling = 1 - home.fetched(memory, slice_, index, tick, now)
        if cache.filling:
            return
        cache.return_head = after
        controller.queue.release(dram.slots, dram.channels[cache.channel], index)
        cache.retry = 1


@jit
def _step_slice(state, slice_, now, end):
    """One core cycle of a slice; returns the next cycle at which it has something to do."""
    memory = state.memory
    cache = memory.l2.slices[slice_]
    cache.filling = 0
    _take_fills(memory, slice_, now)
    at = NEVER
    if cache.count[QUEUE] > 0 and (cache.stalled == l2_stalls.RUNNING or cache.retry):
        at = _look_up(memory, slice_, now)
    sent, reply_at = reply_port.send(memory.l2, state.replies, slice_, now, end)
    if sent and (cache.filling or cache.stalled == l2_stalls.STALL_REPLY):
        cache.retry = 1
        return now + 1
    return min(at, reply_at)


@inline
def _look_up(memory, slice_, now):
    """Serve requests from the head of the queue while the tags have ticks in this core cycle."""
    spec, entries = memory.l2.spec[0], memory.l2.entries
    cache = memory.l2.slices[slice_]
    last = clocks.ticks(spec.l2, now)
    first = clocks.ticks(spec.l2, now - 1) + 1
    while cache.count[QUEUE] > 0:
        index = cache.head[QUEUE]
        tick = max(entries[index].ready, cache.tags_free, first)
        tick = max(tick, cache.data_free // data_port.PARTS - spec.backlog)
        if tick > last:
            return clocks.cycle_of(spec.l2, tick)
        if not _serve(memory, slice_, index, tick, now):
            break
        cache.tags_free = tick + 1
    return NEVER


@inline
def _serve(memory, slice_, index, tick, now):
    """Try the oldest request of a slice; whether it is in front of the tags no more."""
    entries, cache = memory.l2.entries, memory.l2.slices[slice_]
    after = entries[index].next
    cache.retry = 0
    reason = home.serve(memory, slice_, index, tick, now)
    if cache.stalled != l2_stalls.RUNNING:
        count_stall(memory.counters[cache.channel], cache.stalled, now - cache.stalled_since)
    hung = reason == home.HUNG
    cache.stalled = l2_stalls.RUNNING if hung else reason
    cache.stalled_since = now
    if hung or reason == l2_stalls.RUNNING:
        cache.head[QUEUE] = after
        cache.count[QUEUE] -= 1
        if not hung:
            lists.release(entries, cache, index)
        return True
    return False


@inline
def _send_forward(state, slice_, now, end):
    """Let the oldest forward of a slice leave; returns the next cycle at which one can."""
    homes = state.memory.homes
    queue = homes.slices[slice_]
    if queue.forward_count == 0:
        return NEVER
    note = homes.forwards[slice_, queue.forward_head]
    at = max(note.ready_at, queue.forward_free)
    if at > now:
        return at
    p = state.memory.l2.slices[slice_].channel
    if not link.can_send(state.forwards, p, note.destination):
        return end
    message = link.send(state.forwards, p, note.destination, now)
    message.kind = COHERENT + note.number
    message.address = note.line * state.memory.l2.spec[0].line_bytes.value
    message.slice, message.flits = note.slice, 1
    message.tag = message.issued = message.mask = 0
    message.sectors = message.full = message.policy = message.refusals = message.request = 0
    queue.forward_head = (queue.forward_head + 1) % homes.forwards.shape[1]
    queue.forward_count -= 1
    queue.forward_free = now + 1
    cache = state.memory.l2.slices[slice_]
    if cache.stalled == l2_stalls.STALL_REPLY:
        cache.retry = 1
        cache.next = min(cache.next, now + 1)
    return NEVER if queue.forward_count == 0 else now + 1
