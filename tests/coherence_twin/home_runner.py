"""The home of a line by numbers: ``Machine._at_home``."""

import numpy as np
from numba import njit

from coherence_twin import numbers as n
from coherence_twin.ledger import choose, exact, fail, order, post, release
from lockstep.model.coherence import arrays


@njit(nogil=True)
def home_event(p, s, trigger, sender, no_mshr):
    """The event of a trigger at the home."""
    home = s.home
    size = len(s.home_data)
    whole = home[n.HVALID] == (np.int64(-1) if size == 64 else (np.int64(1) << size) - 1)
    true = 0
    others = home[n.SHARERS]
    if sender >= 0:
        others &= ~(np.int64(1) << sender)
        if home[n.SHARERS] >> sender & 1:
            true |= n.SHARER
    if no_mshr and not whole:
        true |= n.NO_MSHR
    if whole:
        true |= n.WHOLE
    if home[n.OWNER] != -1 and home[n.OWNER] != sender:
        true |= n.OWNED
    if home[n.OWNER] == sender:
        true |= n.FROM_OWNER
    if others == 0:
        true |= n.ALONE
    if home[n.MIXED] == 0:
        true |= n.UNMIXED
    if home[n.SHARERS] == 0:
        true |= n.UNSHARED
    if home[n.AWAITED] == 1:
        true |= n.LAST
    if home[n.HDIRTY] != 0:
        true |= n.DIRTY
    return choose(p.home_choices, trigger, true)


@njit(nogil=True)
def directory(s, actions, sender, requester):
    """As ``Machine._directory``."""
    home = s.home
    if actions & n.ANSWERED:
        home[n.AWAITED] -= 1
    if actions & n.MIX:
        home[n.MIXED] = 1
    if actions & n.REMOVE:
        home[n.SHARERS] &= ~(np.int64(1) << sender)
        if home[n.OWNER] == sender:
            home[n.OWNER] = -1
        if home[n.SHARERS] == 0:
            home[n.MIXED] = 0
    if actions & n.DISOWN:
        home[n.OWNER] = -1
    if actions & n.FORGET:
        home[n.SHARERS], home[n.OWNER], home[n.MIXED] = 0, -1, 0
    if actions & n.SHARE:
        home[n.SHARERS] |= np.int64(1) << requester
    if actions & n.OWN:
        home[n.OWNER] = requester


@njit(nogil=True)
def send(p, s, number, to, l1, slot, found):
    """As ``Machine._send``, of the home."""
    carries = p.forms[number].carries
    size = len(s.home_data)
    if carries == n.NOTHING:
        post(s, number, to, l1, 0)
        return
    if carries == n.LINE:
        whole = np.int64(-1) if size == 64 else (np.int64(1) << size) - 1
        if s.home[n.HVALID] != whole:
            fail(s, n.PART)
        sent = post(s, number, to, l1, whole)
        s.payload[sent, :] = s.home_data
    elif carries == n.DIRTY_BYTES:
        sent = post(s, number, to, l1, s.home[n.HDIRTY])
        s.payload[sent, :] = s.home_data
    elif carries == n.MESSAGE:
        sent = post(s, number, to, l1, s.messages[slot, n.MMASK])
        s.payload[sent, :] = s.payload[slot]
    else:
        sent = post(s, number, to, l1, s.messages[slot, n.MMASK])
        s.payload[sent, :] = found


@njit(nogil=True)
def merge(s, slot, mask):
    """Bytes of a message into the home."""
    for k in range(len(s.home_data)):
        if mask >> k & 1:
            s.home_data[k] = s.payload[slot, k]
    s.home[n.HVALID] |= mask


@njit(nogil=True)
def at_home(p, s, trigger, slot, no_mshr, found):
    """As ``Machine._at_home``, but for what is replayed; the entry's actions. ``slot`` -1: none."""
    home = s.home
    sender = s.messages[slot, n.OF] if slot >= 0 else -1
    mask = s.messages[slot, n.MMASK] if slot >= 0 else 0
    event = home_event(p, s, trigger, sender, no_mshr)
    entry = p.home[home[n.HSTATE], event]
    s.home_count[home[n.HSTATE], event] += 1
    if entry.next == arrays.IMPOSSIBLE:
        fail(s, n.HOME_IMPOSSIBLE)
        return 0
    actions = entry.actions
    if actions & n.SAVE:
        home[n.SAVED] = sender
    requester = sender
    if slot >= 0 and p.forms[trigger].network == n.RESPONSE:
        requester = home[n.SAVED]
    if actions & n.MERGE:
        order(s, sender, mask, s.payload[slot])
        merge(s, slot, mask)
        home[n.HDIRTY] |= mask
    if actions & n.HFILL:
        merge(s, slot, mask & ~home[n.HVALID])
    if actions & n.ATOMIC:
        exact(s, mask, s.home_data)
        found[:] = s.home_data
        order(s, sender, mask, s.payload[slot])
        merge(s, slot, mask)
        home[n.HDIRTY] |= mask
    directory(s, actions, sender, requester)
    if entry.messages:
        owner = home[n.OWNER]
        for number in range(len(p.forms)):
            if not entry.messages >> number & 1:
                continue
            to = p.forms[number].to
            if to == n.TO_MEMORY:
                if p.forms[number].carries == n.MESSAGE:
                    order(s, sender, mask, s.payload[slot])
                send(p, s, number, n.MEMORY, requester, slot, found)
            elif to == n.TO_REQUESTER:
                send(p, s, number, requester, requester, slot, found)
            elif to == n.TO_OWNER:
                if owner != -1 and owner != requester:
                    send(p, s, number, owner, owner, slot, found)
                    home[n.AWAITED] += 1
            else:
                for l1 in range(len(s.l1)):
                    if home[n.SHARERS] >> l1 & 1 and l1 != requester and l1 != owner:
                        send(p, s, number, l1, l1, slot, found)
                        home[n.AWAITED] += 1
    if actions & n.HCLEAN:
        home[n.HDIRTY] = 0
    if actions & n.HDROP:
        if home[n.HDIRTY]:
            fail(s, n.LOST)
        home[n.HVALID] = 0
    home[n.HSTATE] = entry.next
    return actions


@njit(nogil=True)
def to_home(p, s, slot, no_mshr, found):
    """A message arrives at the home, with what follows from it there."""
    actions = at_home(p, s, s.messages[slot, n.KIND], slot, no_mshr, found)
    if actions & n.DEFER:
        s.deferred[s.one[n.DEFERRED]] = slot
        s.one[n.DEFERRED] += 1
    else:
        release(s, slot)
    if actions & n.REPLAY:
        count = s.one[n.DEFERRED]
        s.one[n.DEFERRED] = 0
        for k in range(count):
            request = s.deferred[k]
            if at_home(p, s, s.messages[request, n.KIND], request, False, found) & n.DEFER:
                s.deferred[s.one[n.DEFERRED]] = request
                s.one[n.DEFERRED] += 1
            else:
                release(s, request)
