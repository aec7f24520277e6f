"""Where CTAs begin: in a place, in their cluster, at the kernel's entry."""

from lockstep._jit import inline
from lockstep.execution.checks.clocks import begin_clocks, looks_for_races
from lockstep.execution.scheduling.groups import READY, add_group
from lockstep.execution.scheduling.machine import COURTESIES, PATIENT
from lockstep.execution.scheduling.masks import first_lanes
from lockstep.execution.state import SHARED_WINDOW, WRITTEN, scratch_words

words_of_scratch = inline(scratch_words)


@inline
def start_cluster(x, first):
    """Put the CTAs of the next cluster of the grid into the places from ``first`` on."""
    launch, running = x.launch[0], x.running[0]
    number = running.next_cta // launch.cluster_ctas
    running.next_cta += launch.cluster_ctas
    running.place = first
    base_x = number % launch.nclusterid_x * launch.cluster_x
    base_y = number // launch.nclusterid_x % launch.nclusterid_y * launch.cluster_y
    base_z = number // (launch.nclusterid_x * launch.nclusterid_y) * launch.cluster_z
    for rank in range(launch.cluster_ctas):
        ctaid_x = base_x + rank % launch.cluster_x
        ctaid_y = base_y + rank // launch.cluster_x % launch.cluster_y
        ctaid_z = base_z + rank // (launch.cluster_x * launch.cluster_y)
        linear = (ctaid_z * launch.nctaid_y + ctaid_y) * launch.nctaid_x + ctaid_x
        start_cta(x, first + rank, linear)


@inline
def start_cta(x, place, number):
    """Put a CTA of the grid into a place; ``number``: its index, x fastest."""
    launch, running = x.launch[0], x.running[0]
    cta = x.ctas[place]
    cta.linear = number
    cta.ctaid_x = number % launch.nctaid_x
    cta.ctaid_y = number // launch.nctaid_x % launch.nctaid_y
    cta.ctaid_z = number // (launch.nctaid_x * launch.nctaid_y)
    find_in_cluster(launch, cta)
    cta.alive, cta.barriers = launch.warps, 0
    cta.shared = running.shared_address + place * running.shared_stride
    cta.sm = place % launch.sms
    if launch.touch_wave > 0 and number >= launch.touch_wave:
        if number == launch.touch_wave:
            launch.touch_length = launch.touch_now - launch.touch_first
        launch.touch_base = launch.touch_first + number * launch.touch_length // launch.touch_wave
    for k in range(launch.warps):
        start_warp(x, place, k)
    if looks_for_races(x):
        begin_clocks(x, place)
    if len(x.checked.written):
        start = place * running.shared_stride
        end = start + x.launch[0].shared_bytes
        for byte in range(start, end):
            x.checked.written[byte] = 0
        for byte in range(end, start + running.shared_stride):  # swapped with the last bytes
            x.checked.written[byte] = WRITTEN
        for byte in range(start + running.reserved_first, start + running.reserved_behind):
            x.checked.written[byte] = WRITTEN


@inline
def find_in_cluster(launch, cta):
    """Say where a CTA is in its cluster."""
    cta.clusterid_x, cta.cluster_ctaid_x = divided(cta.ctaid_x, launch.cluster_x)
    cta.clusterid_y, cta.cluster_ctaid_y = divided(cta.ctaid_y, launch.cluster_y)
    cta.clusterid_z, cta.cluster_ctaid_z = divided(cta.ctaid_z, launch.cluster_z)
    row = cta.cluster_ctaid_z * launch.cluster_y + cta.cluster_ctaid_y
    cta.rank = row * launch.cluster_x + cta.cluster_ctaid_x
    cta.tag = cta.rank * launch.tag
    cta.window = SHARED_WINDOW + cta.tag


@inline
def divided(number, size):
    """Quotient and remainder."""
    return number // size, number % size


@inline
def start_warp(x, place, index):
    """Put one warp of a CTA at the kernel's entry."""
    launch, running = x.launch[0], x.running[0]
    w = place * launch.warps + index
    warp = x.warps[w]
    warp.registers = running.registers_address + w * running.register_bytes
    warp.launch = running.launch_address
    warp.cta = running.ctas_address + place * x.ctas.itemsize
    warp.threads = running.threads_address + index * 12 * launch.lanes
    warp.local = running.local_address + w * launch.lanes * launch.local_bytes
    warp.index, warp.number = index, w
    warp.scratch = running.scratch_address + w * 8 * words_of_scratch(launch.lanes)
    warp.alive = first_lanes(min(running.threads - index * launch.lanes, launch.lanes))
    warp.groups, warp.waiting, warp.clustered, warp.left = 0, 0, 0, 0
    warp.courtesies, warp.state, warp.patience = COURTESIES, 0, PATIENT
    warp.look_at, warp.look_to, warp.look_lanes, warp.look_state = -1, -1, 0, 0
    warp.looks = 0
    warp.sleep = warp.wakes = warp.touches = 0
    warp.spins, warp.polls, warp.turns_left, warp.in_vain = 0, 0, 0, 0
    first = w * running.register_bytes // 8
    for word in range(first, first + running.cleared_bytes // 8):
        x.registers[word] = 0
    add_group(x, w, running.entry, warp.alive, READY)
