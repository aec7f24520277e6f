"""The words of a protocol's table: what there is to react to, to look at, and to do.

A word's place in its list is its number in exported arrays. Whatever the order in which an entry
names them, its actions are carried out in the order of these lists, with its messages at the place
of ``SENDS``, in the order of the protocol's list.
"""

CONTROL_BYTES, LINE_BYTES = 8, 64  # of a message: Candel et al., section 5.4; Multi2Sim 5

NETWORKS = {
    "request": "up: requests of L1s to the home of a line",
    "forward": "down: what the home asks of L1s that have the line",
    "response": "both ways: answers; they always sink",
    "memory": "between a home and its memory: in order for each line, out and back apart",
}

RECEIVERS = {
    "home": "the home of the line",
    "requester": "the L1 whose request is served: the sender of a request, or the one saved",
    "owner": "the L1 that the directory calls owner",
    "sharers": "every L1 that the directory calls sharer, but the requester and the owner",
    "memory": "the memory behind the home",
}

PAYLOADS = {
    "nothing": "no data",
    "line": "all bytes of the line",
    "dirty": "the dirty bytes, with their mask",
    "operand": "the bytes that the store or atomic writes, with their mask",
    "message": "the bytes and the mask of the message that is handled",
    "found": "what the atomic found",
}

OPERATIONS = {
    "load": "a load",
    "load_glc": "a load past the L1: GLC on Southern Islands, scope .gpu in PTX",
    "load_slc": "a load past the L2: SLC on Southern Islands, scope .sys in PTX",
    "store": "a store",
    "store_glc": "a store with GLC; a coherent one",
    "store_slc": "a store with SLC, or of scope .sys in PTX",
    "atomic": "an atomic that returns what it found",
    "invalidate": "one line's share of buffer_wbinvl1, or of an acquire of scope .gpu",
    "evict": "the way is wanted for another line",
}

MEMORY_REPLIES = {
    "MEM_READ": "MEM_DATA",
    "MEM_READ_PAST": "MEM_DATA_PAST",
    "MEM_WRITE": "",
    "MEM_WRITE_PAST": "MEM_DONE_PAST",
}
"""What a memory answers to each message; those that go past the L2 carry the requester along."""

SENDS = "sends"

L1_CONDITIONS = {
    "valid": "every byte that is wanted is valid",
    "full": "every byte of the line is written",
    "far": "the line's memory is another device's",
}

L1_ACTIONS = {
    "fill": "the bytes of the message replace those that are not dirty; all are valid",
    "perform": "the operation reads or writes the line, and is done",
    "answer": "the operation is done with the bytes of the message; the line does not get them",
    "done": "the operation is done as far as the wavefront knows",
    "wait": "the operation stays, and looks again when the line's state has changed",
    "stall": "the message stays where it is until the line's state has changed",
    "posted": "one more write has not been acknowledged",
    "acknowledged": "one write fewer has not been acknowledged",
    SENDS: "",
    "clean": "no byte is dirty",
    "drop": "no byte is valid",
}

HOME_CONDITIONS = {
    "no_mshr": "the line must be fetched, and no MSHR entry takes the request",
    "valid": "all bytes of the line are valid",
    "owned": "another L1 than the sender is owner",
    "from_owner": "the sender is owner",
    "sharer": "the sender is a sharer",
    "alone": "no other L1 than the sender is a sharer",
    "unmixed": "no bytes of N were merged since there was no sharer, so that sharers are current",
    "unshared": "no L1 is a sharer",
    "last": "no other answer is awaited",
    "dirty": "a byte is dirty",
}

HOME_ACTIONS = {
    "save": "the sender is the requester of what is in flight",
    "merge": "the bytes of the message under its mask are valid and dirty",
    "fill": "the bytes of the message replace those that are not valid; all are valid",
    "atomic": "the atomic reads and writes its bytes of the line, which are dirty",
    "answered": "one answer fewer is awaited; every forward that is sent is awaited",
    "mix": "sharers may be stale, until there are none",
    "remove": "the sender is no sharer, and not owner",
    "disown": "no L1 is owner",
    "forget": "no L1 is a sharer or owner",
    "share": "the requester is a sharer",
    "own": "the requester is owner",
    SENDS: "",
    "clean": "no byte is dirty",
    "drop": "no byte is valid",
    "defer": "the request stays in the line's MSHR entry",
    "replay": "what was deferred is handled again, in its order, in the next state",
    "show": "a cache beside the L1s gets the line's bytes; nobody remembers it",
    "stall": "the request of a cache beside the L1s waits until the line's state has changed",
}

CONDITIONS = {"l1": L1_CONDITIONS, "home": HOME_CONDITIONS}
ACTIONS = {"l1": L1_ACTIONS, "home": HOME_ACTIONS}
HOME_OPERATIONS = {
    "evict": OPERATIONS["evict"],
    "peek": "a cache beside the L1s reads, of instructions or scalars; it is in no directory",
}
INTERNAL = {"l1": OPERATIONS, "home": HOME_OPERATIONS}
"""What a controller reacts to beside messages."""
