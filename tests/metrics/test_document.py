from pathlib import Path

from lockstep.metrics import document, registry

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_the_page_is_current():
    command = "python -m lockstep.metrics.document > docs/metrics.md"
    assert PAGE.read_text(encoding="utf-8") == document.page(), f"run: {command}"


def test_every_metric_is_on_the_page_with_its_formula():
    page = document.page()
    for metric in registry.REGISTRY:
        assert f"`{metric.name}`" in page
    assert "`ratio(k.sm.warp_instructions, k.running)`" in page
