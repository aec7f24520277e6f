from lockstep.model.coherence.document import page


def test_the_page_of_the_protocols_is_current(repository):
    command = "python -m lockstep.model.coherence.document docs/coherence.md"
    there = (repository / "docs" / "coherence.md").read_text(encoding="utf-8")
    assert there == page(), f"renew it: {command}"
