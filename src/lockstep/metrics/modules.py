"""Metrics of links between the modules of a GPU that has several."""

from math import nan

from lockstep.gpus.spec import GPU
from lockstep.metrics.facts import Facts, percent, ratio, utilization
from lockstep.metrics.metric import Keyed, Metric
from lockstep.model.modules.routes import routes


def links(gpu: GPU) -> list[Keyed]:
    """Every link, one for each direction: "from_to", with its module and its number there."""
    neighbours = enumerate(routes(gpu.modules).neighbours)
    return [(f"{m}_{to}", (m, k)) for m, row in neighbours for k, to in enumerate(row)]


def total(k: Facts, name: str) -> float:
    """A counter of modules, summed over them and their links; NaN where they were not counted."""
    return int(k.modules[name].sum()) if len(k.modules) else nan


def carried(k: Facts, link: tuple[int, int]) -> float:
    """Bytes that went over a link; NaN where they were not counted."""
    return int(k.modules["bytes"][link]) if len(k.modules) else nan


def capacity(k: Facts) -> float:
    """Bytes that a link could carry while CTAs ran; NaN without a limit."""
    bandwidth = k.gpu.modules.bandwidth
    return bandwidth * 1e9 * k.running / (k.gpu.clock_mhz * 1e6) if bandwidth else nan


def busiest(k: Facts) -> float:
    """Bytes that went over the link that carried most; NaN where they were not counted."""
    return max(carried(k, link) for _, link in links(k.gpu))


METRICS = (
    Metric(
        "sim__module_requests.sum",
        "messages",
        "Messages from SMs to the L2 of other modules.",
        lambda k: total(k, "requests"),
        modules=True,
    ),
    Metric(
        "sim__module_remote.pct",
        "%",
        "The same, of all messages from SMs to the L2.",
        lambda k: percent(total(k, "requests"), k.sm.noc_requests),
        modules=True,
    ),
    Metric(
        "sim__module_replies.sum",
        "messages",
        "Messages from the L2 to SMs of other modules.",
        lambda k: total(k, "replies"),
        modules=True,
    ),
    Metric(
        "sim__module_link_bytes.sum",
        "bytes",
        "Bytes that links between modules carried, headers included, over each link anew.",
        lambda k: total(k, "bytes"),
        modules=True,
    ),
    Metric(
        "sim__module_link_messages.sum",
        "messages",
        "Messages that links between modules carried, over each link anew.",
        lambda k: total(k, "messages"),
        modules=True,
    ),
    Metric(
        "sim__module_link_wait.avg",
        "cycles",
        "How long a message waited for a link, on average.",
        lambda k: ratio(total(k, "waited"), total(k, "messages")),
        modules=True,
    ),
    Metric(
        "sim__module_link_busy.avg.pct",
        "%",
        "Bytes that links carried, of what they could have carried while CTAs ran.",
        lambda k: percent(total(k, "bytes"), len(links(k.gpu)) * capacity(k)),
        modules=True,
    ),
    Metric(
        "sim__module_link_bytes_{}.sum",
        "bytes",
        "Bytes that the link {} carried, from the first module to the second.",
        lambda k, link: carried(k, link),
        each=links,
        modules=True,
    ),
    Metric(
        "sim__module_link_busy_{}.pct",
        "%",
        "The same, of what the link could have carried while CTAs ran.",
        lambda k, link: utilization(carried(k, link), capacity(k)),
        each=links,
        modules=True,
    ),
)

BUSIEST = Metric(
    "sim__sol_module_link.pct",
    "%",
    "Bytes that the busiest link between modules carried, of what it could have while CTAs ran.",
    lambda k: utilization(busiest(k), capacity(k)),
    modules=True,
)
