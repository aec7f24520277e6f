"""What is read of results of runs: JSON files and folders."""

import json

from lockstep.correlation.results import read_result


def test_launches_in_part_and_samples_are_told_apart(tmp_path):
    kernel = {"id": 1, "name": "k", "cycles": 5, "metrics": {}}
    path = tmp_path / "app.json"

    def read(complete, **more):
        path.write_text(json.dumps({"kernels": [kernel | {"complete": complete}], **more}))
        ours = read_result(path)
        return ours.launches[0].complete, ours.sampled

    assert read(True) == (True, False) and read(False) == (False, False)
    assert read(True, estimate={"launches": 2, "simulated": 1}) == (True, True)
    assert read(True, estimate={"launches": 1, "simulated": 1}) == (True, False)
    table = tmp_path / "kernels.csv"
    table.write_text('id,name,grid,block,cycles,complete\n1,k,"(1, 1, 1)","(1, 1, 1)",5,False\n')
    assert not read_result(tmp_path).launches[0].complete
    assert not read_result(tmp_path).sampled
    sample = {"trace": "app", "estimate": {"launches": 2, "simulated": 1}}
    (tmp_path / "manifest.json").write_text(json.dumps(sample))
    assert read_result(tmp_path).sampled and read_result(tmp_path).program == "app"
