"""A proxy at a level, which its header states."""

from dataclasses import replace

import numpy as np

from lockstep.errors import WorkloadError, unknown
from lockstep.frontend.proxy import LEVELS, Proxy
from lockstep.proxies.levels.blurred import blurred
from lockstep.proxies.levels.hidden import hidden
from lockstep.proxies.levels.literals import has_literals
from lockstep.proxies.levels.rounding import PARTS

EPSILON = 1.0  # of the noise: counts are off by 1 on average
PLAIN, HIDDEN, BLURRED = LEVELS


def at_level(
    proxy: Proxy,
    level: str,
    epsilon: float = EPSILON,
    random: np.random.Generator | None = None,
) -> Proxy:
    """A plain proxy at a level; its facts say under ``privacy`` what that is.

    ``epsilon``: of the Laplace noise of blurred counts, whose sensitivity is one access: the
    smaller, the more noise. What is drawn cannot be repeated unless ``random`` is given. Raises
    :class:`WorkloadError` if the proxy is not plain, or tells irregular accesses word by word.
    """
    if level not in LEVELS:
        raise WorkloadError(unknown("level of proxies", level, LEVELS))
    if proxy.level != PLAIN:
        raise WorkloadError(f"{proxy.name} is {proxy.level}; only a plain proxy gets a level")
    if not epsilon > 0:
        raise WorkloadError(f"epsilon {epsilon}; expected more than 0")
    if level == PLAIN:
        return proxy
    for number, model in enumerate(proxy.models):
        if has_literals(model):
            raise WorkloadError(
                f"model {number} holds irregular accesses word by word; profile at level {level}"
            )
    random = np.random.default_rng() if random is None else random
    privacy = {"replaced": "names, instructions, addresses, order of allocations"}
    if level == BLURRED:
        proxy = blurred(proxy, epsilon, random)
        privacy |= {"rounded": f"1/{PARTS}", "noise": "Laplace", "epsilon": str(epsilon)}
    return replace(hidden(proxy, random), level=level, facts=proxy.facts | {"privacy": privacy})
