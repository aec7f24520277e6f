"""Code that is lifted without being emitted tells the same of itself as code that is emitted."""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins
from lockstep.execution.programs import assemblers, kept, native, parts
from lockstep.execution.programs.program import Recording

RECORDINGS = (
    Recording.NOTHING,
    Recording.EVERYTHING,
    Recording.AT_ISSUE | Recording.PROFILE,
    Recording.RACES | Recording.INIT,
)
FACTS = ("blocks", "items", "sites", "symbols", "guarded", "clock_reads", "code", "texts")


@pytest.fixture
def translated(monkeypatch):
    """Programs that are translated anew, and not compiled."""
    monkeypatch.setattr(kept, "program", lambda parts, make: make())
    monkeypatch.setattr(kept, "routine", lambda symbol, make: make())
    monkeypatch.setattr(native, "assemble", lambda text, soon: b"objects")
    monkeypatch.setattr(assemblers, "_assemblers", assemblers.Assemblers())
    monkeypatch.setattr(assemblers, "_wanted", lambda: 0)
    monkeypatch.setattr(parts, "PART", 8)

    def program(kernel, recording, whole):
        monkeypatch.setattr(parts, "WHOLE", whole)
        return kernel.translate(recording)

    return program


def same(one, other):
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


@pytest.mark.long
@pytest.mark.parametrize("file, gpu", [("sm_90", "H100"), ("barriers", "H100"), ("flow", "A100")])
def test_programs_in_parts_tell_the_same_of_their_code(translated, file, gpu):
    divided = 0
    for number, content in enumerate(list(cubins(file).values())[::9]):
        with lockstep.Device(gpu) as device:
            module = device.load_cubin(content)
            for k, name in enumerate(module.entries[:4]):
                recording = RECORDINGS[(number + k) % len(RECORDINGS)]
                whole = translated(module[name], recording, 1 << 20)
                several = translated(module[name], recording, 0)
                divided += len(several.parts) > 1
                for fact in FACTS:
                    assert same(getattr(whole, fact), getattr(several, fact)), (
                        name,
                        recording,
                        fact,
                    )
    assert divided
