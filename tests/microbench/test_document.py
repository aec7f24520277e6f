from lockstep.microbench.document import page


def test_the_page_says_what_is_declared(repository):
    """After a change: ``python scripts/microbench_list.py``."""
    assert (repository / "docs" / "microbench-list.md").read_text() == page()
