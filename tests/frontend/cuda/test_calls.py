import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.frontend.cuda.calls import (
    FORMS,
    HEADER,
    LARGEST,
    Call,
    CallError,
    c_header,
    decode,
    decode_header,
    encode,
)

WORDS = st.integers(0, (1 << 64) - 1)


@given(st.sampled_from(list(Call)), st.data(), st.binary(max_size=50))
def test_what_is_encoded_is_decoded(call, data, payload):
    names = FORMS[call].request
    values = tuple(data.draw(WORDS) for _ in names)
    raw = encode(call, values, payload, status=7)
    assert decode_header(raw[: HEADER.size]) == (call, 7, len(raw) - HEADER.size)
    assert decode(names, raw[HEADER.size :]) == (dict(zip(names, values)), payload)


def test_the_bytes_of_a_message():
    raw = encode(Call.FREE, (0x1122334455667788,), b"xy")
    assert raw.hex() == "07000000000000000a0000000000000088776655443322117879"
    assert encode(Call.FREE, (-1,))[HEADER.size :] == b"\xff" * 8


@pytest.mark.parametrize("header", [(0, 0, 0), (999, 0, 0), (6, 0, LARGEST + 1)])
def test_damaged_headers(header):
    with pytest.raises(CallError, match="a message with number"):
        decode_header(HEADER.pack(*header))


def test_bodies_that_are_too_short():
    with pytest.raises(CallError, match="8 bytes; 16 expected"):
        decode(("a", "b"), bytes(8))


def test_every_call_has_a_form():
    assert set(FORMS) == set(Call)
    assert all(not form.reply for form in FORMS.values() if form.one_way)


def test_the_c_header_has_the_same_layout(tmp_path):
    compiler = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        pytest.skip("needs a C compiler, and there is none")
    checks = [
        f"_Static_assert(sizeof(struct {call.name.lower()}_{kind}) == {8 * len(names)}, TEXT);"
        for call, form in FORMS.items()
        for kind, names in (("request", form.request), ("reply", form.reply))
        if names
    ]
    source = tmp_path / "check.c"
    text = "\n".join(checks).replace("TEXT", '"size"')
    source.write_text(c_header() + text)
    subprocess.run([compiler, "-fsyntax-only", source], check=True, timeout=60)
