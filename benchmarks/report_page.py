"""How long a browser works until a report is there: a page of 1,000 kernels in a Chromium.

    python benchmarks/report_page.py [--kernels 1000] [--samples 2000] [--repeat 10]

Prints medians: from the start of the navigation until the first view is there, and until all is
drawn, by the clock; and what the process of the page took of a processor until then, which others
on the machine disturb less. Needs playwright (``pip install '.[dev]'``) and a Chromium.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import playwright.sync_api as playwright

from lockstep.report.page.write import write_report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from metrics.synthetic import make_result

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip


def main() -> None:
    """Write the page, open it often, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as started:
        path = Path(folder) / "report.html"
        write_report(make_result(kernels=args.kernels, samples=args.samples), path)
        found = next(filter(None, map(shutil.which, NAMES)), None)
        browser = started.chromium.launch(executable_path=found, args=ARGUMENTS)
        runs = [opened(browser, path) for _ in range(args.repeat)]
        print(f"{args.kernels} kernels, {path.stat().st_size / 1e6:.2f} MB, Chromium "
              f"{browser.version}, median of {args.repeat}")  # fmt: skip
        browser.close()
    print("| | clock | processor | of it scripts |\n| --- | ---: | ---: | ---: |")
    for name in ("first view", "all drawn"):
        columns = zip(*(run[name] for run in runs if name in run))
        cells = [f"{statistics.median(column):.2f} s" for column in columns]
        print(f"| {name} | {' | '.join(cells)} |")


def opened(browser: playwright.Browser, path: Path) -> dict[str, tuple[float, float, float]]:
    """Seconds of the clock, of the page's process and of its scripts until each state."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used() -> tuple[float, float]:
        values = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        return values.get("ProcessTime", 0.0), values["ScriptDuration"]

    found = {}
    before = used()
    page.goto(path.as_uri(), wait_until="commit")
    for name, mark in (("first view", "ready"), ("all drawn", "drawn")):
        page.wait_for_selector(f"body[data-{mark}]", state="attached")
        clock = page.evaluate(f"performance.getEntriesByName('{mark}')[0]?.startTime ?? NaN") / 1000
        found[name] = (clock, *(x - y for x, y in zip(used(), before)))
    context.close()
    return found


if __name__ == "__main__":
    main()
