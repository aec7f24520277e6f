"""What is ordered before what: a vector clock for each warp, as race detectors have them.

Each warp counts its own time, and knows up to which time of every other warp of its cluster all is
ordered before what it does next: ``clocks[w, other]``. Barriers, barrier objects and fences pass
that on. When all of a CTA wait at a barrier, all its warps get the same new time, and everything
that was before is settled: one comparison with ``settled`` tells it.

Within a warp, lanes that execute together are ordered by the code. The time of a warp moves on
whenever other lanes come together or part; only what lanes do on paths that exclude each other,
between two such moments, has the same time and is not ordered.
"""

from lockstep._jit import inline

# A record of an access, and a warp's stamp: time, warp in the cluster, lane, whether it is an
# access that does not race with its like, memory site.
CLOCK_SHIFT = 35
WARP_SHIFT, WARP_BITS = 26, 9
LANE_SHIFT, LANE_BITS = 20, 6  # of a wavefront: the widest there is
STRONG = 1 << 19
SITE_MASK = STRONG - 1
LATEST = 1 << 27  # time at which all begins anew, at a moment when everything is settled


@inline
def clock_of(record):
    """The time in a record or stamp."""
    return record >> CLOCK_SHIFT


@inline
def warp_of(record):
    """The number in the cluster of the warp in a record or stamp."""
    return record >> WARP_SHIFT & (1 << WARP_BITS) - 1


@inline
def lane_of(record):
    """The lane in a record."""
    return record >> LANE_SHIFT & (1 << LANE_BITS) - 1


@inline
def looks_for_races(x):
    """Whether there are clocks."""
    return len(x.checked.clocks) > 0


@inline
def first_warp(x, place):
    """The number in the cluster of the first warp of a CTA."""
    return x.ctas[place].rank * x.launch[0].warps


@inline
def settle(x, place):
    """All that the warps of a CTA did is ordered before what they do next."""
    warps, first = x.launch[0].warps, place * x.launch[0].warps
    own, clocks = first_warp(x, place), x.checked.clocks
    now = 1
    for w in range(first, first + warps):
        now = max(now, clock_of(x.warps[w].stamp) + 1)
    if now > LATEST:
        forget(x, place)
        now = 1
    for other in range(clocks.shape[1]):
        known = 0
        for w in range(first, first + warps):
            known = max(known, clocks[w, other])
        if own <= other < own + warps:
            known = now - 1
        for w in range(first, first + warps):
            clocks[w, other] = known
    for w in range(first, first + warps):
        x.warps[w].settled = now << CLOCK_SHIFT
        x.warps[w].stamp = now << CLOCK_SHIFT | own + w - first << WARP_SHIFT


@inline
def forget(x, place):
    """Drop the records of a CTA's shared memory."""
    races = x.checked.races
    size = races.shape[1] // len(x.ctas)
    for plane in range(races.shape[0]):
        for k in range(place * size, (place + 1) * size):
            races[plane, k] = 0


@inline
def begin_clocks(x, place):
    """A CTA begins: nothing that was in its place before, or in its cluster, concerns it."""
    warps, clocks = x.launch[0].warps, x.checked.clocks
    first, cluster = place * warps, (place - x.ctas[place].rank) * warps
    for w in range(first, first + warps):
        x.warps[w].mask = 0
        for other in range(clocks.shape[1]):
            # CTAs of a cluster begin in turn: of those behind, all that there was is of others.
            begun = cluster + other < first
            clocks[w, other] = clock_of(x.warps[cluster + other].stamp) - begun
    settle(x, place)


@inline
def pass_on(x, w, rows, place, k):
    """What a warp did until now is ordered before what they do who take over ``rows[place, k]``."""
    stamp, clocks = x.warps[w].stamp, x.checked.clocks
    for other in range(clocks.shape[1]):
        rows[place, k, other] = max(rows[place, k, other], clocks[w, other])
    own = warp_of(stamp)
    rows[place, k, own] = max(rows[place, k, own], clock_of(stamp))
    x.warps[w].stamp = stamp + (1 << CLOCK_SHIFT)


@inline
def take_over(x, w, rows, place, k):
    """What was passed on to ``rows[place, k]`` is ordered before what a warp does next."""
    clocks = x.checked.clocks
    for other in range(clocks.shape[1]):
        clocks[w, other] = max(clocks[w, other], rows[place, k, other])


@inline
def settle_cluster(x, first):
    """The barrier of a cluster opens: all that its CTAs did is settled."""
    warps, ctas = x.launch[0].warps, x.launch[0].cluster_ctas
    for place in range(first, first + ctas):
        settle(x, place)
    clocks = x.checked.clocks
    for w in range(first * warps, (first + ctas) * warps):
        for other in range(clocks.shape[1]):
            clocks[w, other] = clock_of(x.warps[first * warps + other].stamp) - 1
