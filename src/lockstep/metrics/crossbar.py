"""Metrics of the crossbar, and of what goes through it to the memory of other GPUs."""

from lockstep.metrics.metric import Metric

CROSSBAR = (
    Metric(
        "sim__noc_requests.sum",
        "messages",
        "Messages from SMs to the L2.",
        lambda k: k.sm.noc_requests,
    ),
    Metric(
        "sim__noc_request_flits.sum",
        "flits",
        "Port cycles that they took.",
        lambda k: k.sm.noc_request_flits,
    ),
    Metric(
        "sim__noc_request_stalls.sum",
        "cycles",
        "SM-cycles in which a request waited for room at its destination.",
        lambda k: k.sm.noc_request_stalls,
    ),
    Metric(
        "sim__noc_replies.sum",
        "messages",
        "Messages from the L2 to SMs.",
        lambda k: k.sm.noc_replies,
    ),
    Metric(
        "sim__noc_reply_flits.sum",
        "flits",
        "Port cycles that they took.",
        lambda k: k.sm.noc_reply_flits,
    ),
    Metric(
        "sim__noc_nacks.sum",
        "messages",
        "Requests that the L2 refused and the SM repeated.",
        lambda k: k.sm.nacks,
    ),
)

PEERS = (
    Metric(
        "sim__peer_requests.sum",
        "messages",
        "Of the messages from SMs, those to the memory of other GPUs.",
        lambda k: k.sm.peer_requests,
        core="sm",
    ),
    Metric(
        "sim__peer_load_bytes.sum",
        "bytes",
        "What they load from there, in whole sectors.",
        lambda k: k.sm.peer_read_sectors * k.gpu.l2.sector_bytes,
        core="sm",
    ),
    Metric(
        "sim__peer_store_bytes.sum",
        "bytes",
        "What they store there, in whole sectors.",
        lambda k: k.sm.peer_write_sectors * k.gpu.l2.sector_bytes,
        core="sm",
    ),
    Metric(
        "sim__peer_atomic_bytes.sum",
        "bytes",
        "Sectors in which atomics and reductions update words there.",
        lambda k: k.sm.peer_atomic_sectors * k.gpu.l2.sector_bytes,
        core="sm",
    ),
)
