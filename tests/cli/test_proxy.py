"""``lockstep proxy``: programs and traces to proxies, and back to traces."""

import pytest

from lockstep import api
from lockstep.frontend.proxy import Proxy


@pytest.fixture
def made(call, trace, tmp_path):
    """The proxy of a trace."""
    done = call("proxy", "profile", trace, "-o", "x.proxy")
    assert done.exit_code == 0, done.stderr
    return done


def test_a_trace_becomes_a_proxy(made, trace, tmp_path):
    proxy, original = Proxy.load(tmp_path / "x.proxy"), api.load(trace)
    assert "2 launches, 1 models, " in made.stderr
    assert [k.name for k in proxy.launches] == [k.name for k in original.kernels]
    assert proxy.method == "affine"
    assert "affine, plain: it has 100.0 % of the original's lines" in made.stderr


def test_what_a_hidden_proxy_tells(call, trace):
    done = call("proxy", "profile", trace, "-o", "x.proxy", "--level", "hidden")
    assert "hidden: it has 0.0 % of the original's lines and" in done.stderr
    assert call("proxy", "profile", trace, "-o", "x.proxy", "-q").stderr == ""


def test_a_program_becomes_a_proxy(call, tmp_path):
    done = call("proxy", "profile", "saxpy", "--size", "1000", "-o", "s.proxy")
    assert done.exit_code == 0, done.stderr
    assert "1 launches, 1 models" in done.stderr
    proxy = Proxy.load(tmp_path / "s.proxy")
    assert (proxy.name, proxy.gpu) == ("saxpy", "QV100")
    assert len(proxy.allocations) == 2


def test_a_proxy_becomes_a_trace(call, made, trace, tmp_path):
    done = call("proxy", "make", "x.proxy", "-o", "y.lst")
    assert done.exit_code == 0 and "y.lst: 2 kernels" in done.stderr
    assert [k.grid for k in api.load(tmp_path / "y.lst").kernels] == [
        k.grid for k in api.load(trace).kernels
    ]
    done = call("proxy", "make", "x.proxy", "-o", "folder", "--quiet")
    assert done.exit_code == 0 and done.stderr == ""
    assert (tmp_path / "folder" / "kernelslist.g").is_file()
    assert call("proxy", "profile", "folder", "-o", "z.proxy").exit_code == 0


def test_a_proxy_of_a_proxy(call, made, tmp_path):
    assert call("proxy", "profile", "x.proxy", "-o", "y.proxy").exit_code == 0
    first, second = (Proxy.load(tmp_path / name).workload() for name in ("x.proxy", "y.proxy"))
    for kernel, other in zip(first.kernels, second.kernels):
        for cta, again in zip(kernel.ctas(), other.ctas(), strict=True):
            assert (cta.addresses == again.addresses).all()


def test_what_is_wrong_is_told_before_the_work(call, trace, tmp_path):
    for arguments, problem in (
        (("profile", trace, "-o", "x.txt"), "expected a name that ends in .proxy"),
        (("profile", trace, "-o", "x.proxy", "--method", "afine"), "did you mean affine?"),
        (("profile", "nothing.lst", "-o", "x.proxy"), "nothing"),
        (("make", "nothing.proxy", "-o", "x.lst"), "cannot be read"),
        (("make", trace, "-o", "x.lst"), "expected a proxy"),
    ):
        done = call("proxy", *arguments)
        assert done.exit_code == 2 and problem in done.stderr, (arguments, done.stderr)
    assert not (tmp_path / "x.proxy").exists()


def test_an_l2_of_nothing_is_refused(call, made):
    done = call("proxy", "make", "x.proxy", "-o", "x.lst", "--l2", "0")
    assert done.exit_code == 2 and "--l2" in done.stderr


def test_a_wrong_scale_is_refused(call, made):
    done = call("proxy", "make", "x.proxy", "-o", "x.lst", "--scale", "2")
    assert done.exit_code == 2 and "expected more than 0 and at most 1" in done.stderr
