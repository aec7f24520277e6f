import os
import threading

from lockstep.store import cleaning

OLD, YOUNG = "0" * 32, "1" * 32


def fill(folder):
    folder.mkdir(exist_ok=True)
    for name in (OLD, YOUNG, f".{OLD}.half", f".{YOUNG}.half", "notes.txt"):
        (folder / name).write_text("content")
    (folder / ("2" * 32)).mkdir()
    (folder / ("2" * 32) / "library").write_text("content")
    for name in (OLD, f".{OLD}.half", "notes.txt", "2" * 32):
        os.utime(folder / name, (0, 0))


def test_what_is_old_and_ours_is_removed(tmp_path):
    fill(tmp_path)
    cleaning.clean([tmp_path, tmp_path / "absent"])
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {YOUNG, f".{YOUNG}.half", "notes.txt"}


def test_a_place_is_cleaned_once_a_day(tmp_path):
    assert cleaning.is_due(tmp_path)
    assert not cleaning.is_due(tmp_path)
    (stamp,) = tmp_path.iterdir()
    os.utime(stamp, (0, 0))
    assert cleaning.is_due(tmp_path)
    assert not cleaning.is_due(tmp_path)


def test_several_may_clean_at_once(tmp_path):
    failed = []
    for _ in range(20):
        fill(tmp_path)

        def clean():
            try:
                cleaning.clean([tmp_path])
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=clean) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed and not (tmp_path / OLD).exists()
