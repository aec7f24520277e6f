import platform

import pytest

from lockstep._jit import target

CPUINFO = """processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 207
model name	: A processor
stepping	: 2
cpu MHz		: {mhz}
cache size	: 266240 KB
apicid		: {apic}
flags		: fpu avx2{flags}
bogomips	: 4600.00

processor	: 1
flags		: none
"""


@pytest.fixture
def key(tmp_path, monkeypatch):
    """The key of a host whose kernel tells so about its processor."""
    monkeypatch.setattr(target, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(target, "is_linux_x86", lambda: True)

    def of(text):
        (tmp_path / "cpuinfo").write_text(text)
        target.host_key.cache_clear()
        return target.host_key()

    yield of
    target.host_key.cache_clear()


def told(mhz="2300.000", apic=0, flags=""):
    return CPUINFO.format(mhz=mhz, apic=apic, flags=flags)


def test_the_key_is_that_of_model_and_features(key):
    assert key(told()) == key(told(mhz="800.1", apic=9))
    assert key(told()) != key(told(flags=" avx512f"))
    assert key(told()) != key(told().replace("stepping	: 2", "stepping	: 3"))
    assert key(told()) != key(told().replace("model		: 207", "model		: 208"))


def test_features_that_an_emulator_hides_count(key, monkeypatch):
    first = key(told())
    found = target._found()
    assert ("SSE2", True) in found or platform.machine() != "x86_64"
    monkeypatch.setattr(target, "_found", lambda: [(name, False) for name, _ in found])
    assert key(told()) != first


def test_without_the_kernel_s_word_llvm_tells(key):
    words = repr(tuple(target.processor()))
    assert key("") == words
    assert key("model : 3\n") == words
    assert key(told()) != words


def test_other_systems_have_llvm_s_word(key, monkeypatch):
    monkeypatch.setattr(target, "is_linux_x86", lambda: False)
    assert key(told()) == repr(tuple(target.processor()))
