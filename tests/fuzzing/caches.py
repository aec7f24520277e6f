"""Targets: what is kept on disk. A damaged entry is told and made again, never believed."""

import hashlib
import os
import random
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO

from fuzzing.target import Target
from lockstep import store
from lockstep.errors import LockstepError
from lockstep.store import content, entry, places
from lockstep.store.folder import MANIFEST

KEY = "key"
CONTENTS = (b"", b"x", b"\x7fELF" + bytes(range(256)) * 8, b"LOCKSTEP" * 40)


class _Cache(Target):
    mutated_whole = 0.1  # of the inputs are other whole entries

    def use_own_place(self) -> store.Place:
        """Let the store have one place, of this process: workers share the folder."""
        place = store.Place(self.folder / str(os.getpid()), writable=True)
        places.places = lambda: (place,)
        return place

    def say(self, said: str) -> None:
        """Turn the one line that was said into the refusal that it is."""
        places.say.cache_clear()
        lines = said.splitlines()
        if len(lines) != 1 or not lines[0].startswith("lockstep: "):
            raise AssertionError(f"it is not one line: {said!r}")
        raise LockstepError(lines[0])


class Entry(_Cache):
    """A file with a header; others lie in its place, too."""

    name = "cache-entry"

    def seeds(self) -> Sequence[bytes]:
        """Of one key, with several contents."""
        return [entry.pack(f"model/{KEY}", content) for content in CONTENTS]

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Damaged bytes, or a whole entry of another kind or key, or of a huge length."""
        if chance.random() < self.mutated_whole:
            names = "model/other", f"translation/{KEY}", "model/", "/", "\n"
            return entry.pack(chance.choice(names), chance.choice(CONTENTS))
        if chance.random() < self.mutated_whole:
            huge = chance.choice((1 << 32, (1 << 63) - 1, (1 << 64) - 1)).to_bytes(8, "little")
            return data[:16] + huge + data[24:]
        return super().mutated(chance, data, other)

    def read(self, data: bytes) -> object:
        """The content."""
        path = self.use_own_place().kind("model") / content.file_name(KEY)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        with redirect_stderr(StringIO()) as said:
            found = store.get("model", KEY)
        if found is None:
            self.say(said.getvalue())
        return found

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """What was accepted must be a whole entry as it was written."""
        whole = data in self.seeds() and value == entry.unpack(data)[1]
        return "" if whole else "a damaged entry was believed"


class Libraries(_Cache):
    """A folder of files that other programs load: a library, then the list of digests."""

    name = "cache-folder"
    _LIBRARY = b"\x7fELF" + bytes(range(200)) * 2

    def _make(self, path) -> None:
        (path / "lib.so").write_bytes(self._LIBRARY)

    def seeds(self) -> Sequence[bytes]:
        """The library and its manifest."""
        digest = hashlib.blake2b(self._LIBRARY, digest_size=32).hexdigest()
        listed = b'{"lib.so":"' + digest.encode() + b'"}'
        return [self._LIBRARY + entry.pack(f"runtime/{KEY}", listed)]

    def read(self, data: bytes) -> object:
        """The library as it would be loaded."""
        size = len(self._LIBRARY)
        path = self.use_own_place().kind("runtime") / content.file_name(KEY)
        path.mkdir(parents=True, exist_ok=True)
        (path / "lib.so").write_bytes(data[:size])
        (path / MANIFEST).write_bytes(data[size:])
        made = []
        with redirect_stderr(StringIO()) as said:
            path = store.folder("runtime", KEY, lambda p: (made.append(1), self._make(p)))
        if made:
            self.say(said.getvalue())
        return (path / "lib.so").read_bytes()

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """What was accepted must be what was written."""
        whole = data == seed and value == self._LIBRARY
        return "" if whole else "a damaged library was believed"


TARGETS = (Entry, Libraries)
