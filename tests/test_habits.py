"""What the code host and contributors run is what the project says of itself."""

import os
import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / ".github" / "ISSUE_TEMPLATE"


def test_the_workflow_runs_ci_with_every_python():
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    job = yaml.safe_load(text)["jobs"]["test"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = [c.rpartition(" ")[2] for c in project["classifiers"] if ":: 3." in c]
    assert job["strategy"]["matrix"]["python"] == said
    assert any(".ci/run" in step.get("run", "") for step in job["steps"])
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_site_is_published_from_where_it_is_built():
    text = (ROOT / ".github" / "workflows" / "site.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["site"]["steps"]
    built = re.search(r"^site_dir: (.+)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)[1]
    assert built in [step.get("with", {}).get("path") for step in steps]
    assert "mkdocs build --strict" in [step.get("run") for step in steps]
    assert f"/{built.split('/')[0]}/" in (ROOT / ".gitignore").read_text().splitlines()


def test_hooks_call_tools_of_the_extra_dev():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    assert [hook["entry"].split()[0] for hook in hooks] == [
        "ruff", "ruff", "lint-imports", "pytest",
    ]  # fmt: skip
    for hook in hooks:
        for word in hook["entry"].split():
            assert not word.startswith("tests/") or (ROOT / word).exists()


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.yml")), ids=lambda p: p.name)
def test_templates_ask_for_what_is_there(template):
    form = yaml.safe_load(template.read_text())
    if template.name == "config.yml":
        assert (ROOT / "SECURITY.md").exists() and form["contact_links"]
        return
    assert form["name"] and form["description"]
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    for page in re.findall(r"docs/[\w-]+\.md", template.read_text()):
        assert (ROOT / page).exists(), page


def test_ci_tries_the_wheel_after_the_tests():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    tests, wheel = (next(n for n, line in enumerate(lines) if text in line)
                    for text in ("&& pytest --all", "python scripts/try_wheel.py"))  # fmt: skip
    assert tests < wheel  # what the tests have compiled serves it


def test_the_wheel_is_tried_with_the_cycles_that_the_documentation_says(load_script):
    script = load_script(ROOT / "scripts" / "try_wheel.py")
    tutorial = (ROOT / "docs" / "tutorial.md").read_text()
    assert f"vecadd on QV100: {script.CYCLES:,} cycles" in tutorial


def test_security_and_contributing_agree():
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert "(SECURITY.md)" in contributing
    assert "(CONTRIBUTING.md#check)" in (ROOT / "SECURITY.md").read_text()
