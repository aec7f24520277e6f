"""What protocols need of a GPU, and which GPUs have it."""

import pytest

from lockstep.errors import SpecError
from lockstep.gpus import library

REFUSED = [
    ("H100_SXM", "vi", "l1.waiting", 8, "passed by younger ones of its line"),
    ("H100_SXM", "vi", "l1.prefetcher", "stride", "older than what was read before"),
    ("H100_SXM", "vi", "l1.allocate", "miss", "before a store to it"),
    ("HD7770", "si", "l1.waiting", 8, "passed by younger ones of its line"),
    ("HD7770", "nmoesi", "interconnect.order", "partition", "must keep their order"),
    ("HD7770", "nmoesi", "l2.sides", 2, "a line has one home"),
]


@pytest.mark.parametrize("name", ["H100_SXM", "A100", "QV100"])
def test_scopes_need_no_other_parameter(name):
    gpu = library.replace(library.gpu(name), **{"coherence.protocol": "vi"})
    assert gpu.coherence.scoped


@pytest.mark.parametrize(("name", "protocol", "path", "value", "why"), REFUSED)
def test_what_does_not_fit_is_refused_with_the_reason(name, protocol, path, value, why):
    changes = {"coherence.protocol": protocol, path: value}
    with pytest.raises(SpecError, match=f"because coherence.protocol is {protocol}: .*{why}"):
        library.replace(library.gpu(name), **changes)
