"""``lockstep proxy profile --level`` and ``lockstep proxy check``."""

import pandas as pd
import pytest

from lockstep.frontend.proxy import Proxy

PROGRAM = ("conv2d", "--size", "60")


@pytest.fixture
def profiled(call):
    """Profiles the program with some options; the file lies in the working directory."""

    def profile(*options):
        done = call("proxy", "profile", *PROGRAM, "-o", "app.proxy", *options)
        assert done.exit_code == 0, done.output
        return done

    return profile


@pytest.mark.parametrize("method", ["affine", "gmap"])
def test_errors_and_what_leaks_are_told(call, profiled, method, tmp_path):
    profiled("--method", method)
    done = call(
        *("proxy", "check", "app.proxy", "--against", *PROGRAM, "--sets", "l1,l2", "-o", "a.csv")
    )
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(tmp_path / "a.csv")
    assert set(rows["set"]) == {"l1", "l2"}
    off = (rows["original"] - rows["proxy"]).abs().max()
    assert off < 1e-9 if method == "affine" else off > 0.1
    assert f"{method}, plain: it has " in done.stdout
    if method == "affine":
        assert "100.0 % of the original's lines and 100.0 % of its sequences" in done.stdout


def test_a_hidden_proxy_has_no_line_of_the_original(call, profiled):
    assert "hidden, 1 launches" in profiled("--level", "hidden").stderr
    done = call("proxy", "check", "app.proxy", "--against", *PROGRAM, "--sets", "l1")
    assert "affine, hidden: it has 0.0 % of the original's lines and 100.0 %" in done.stdout


def test_a_trace_is_an_original_too(call, trace):
    assert call("proxy", "profile", trace, "-o", "tiny.proxy", "-q").exit_code == 0
    done = call("proxy", "check", "tiny.proxy", "--against", trace, "--sets", "l1")
    assert done.exit_code == 0, done.output
    assert "100.0 % of the original's lines" in done.stdout


def test_epsilon_is_stated_in_the_file(call, profiled, tmp_path):
    profiled("--level", "blurred", "--epsilon", "0.25")
    assert Proxy.load(tmp_path / "app.proxy").facts["privacy"]["epsilon"] == "0.25"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--against", "conv2d", "--sets", "l9"), "no set of configurations is named 'l9'"),
        (("--against", "conv2d", "--sets", "l9"), " (known: "),
        (("--against", "absent.lst"), "absent.lst: no such file"),
        (("--against", "conv"), "no built-in kernel 'conv'"),
        (("--against", "conv2d", "--scale", "0"), "scale 0"),
        ((), "Missing option '--against'"),
    ],
)
def test_what_is_wrong_is_one_line(call, profiled, arguments, message):
    profiled()
    done = call("proxy", "check", "app.proxy", *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_epsilon_must_be_positive(call):
    done = call("proxy", "profile", *PROGRAM, "-o", "app.proxy", "--epsilon", "0")
    assert done.exit_code == 2
