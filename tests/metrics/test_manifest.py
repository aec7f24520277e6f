import subprocess
import sys

from lockstep.metrics import manifest


def test_the_version_is_that_of_the_package():
    assert manifest.version()[0].isdigit()


def test_the_host_names_versions():
    host = manifest.host()
    assert host["python"].startswith("3.")
    assert host["numba"] and host["numpy"]


def test_peak_memory_is_this_process_alone():
    code = (
        "import subprocess, sys; held = bytearray(200 << 20);"
        "child = 'from lockstep.metrics.manifest import peak_rss_mb; print(peak_rss_mb())';"
        "subprocess.run([sys.executable, '-c', child], check=True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 1 < float(done.stdout) < 150
