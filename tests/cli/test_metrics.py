"""``lockstep metrics``."""

from lockstep.metrics import registry


def test_all_are_listed(call):
    done = call("metrics")
    assert done.exit_code == 0
    for metric in registry.REGISTRY:
        assert metric.name in done.stdout


def test_few_are_told_in_full_with_other_names(call):
    done = call("metrics", "GPU_IPC")
    assert done.stdout == (
        "sm__inst_executed.sum.per_cycle_elapsed (instructions/cycle)\n"
        "  IPC of the GPU over all cycles, launch overhead included.\n"
        "  = ratio(k.sm.warp_instructions, k.cycles)\n"
        "  gpu_ipc: of thread instructions\n"
    )


def test_a_pattern_finds_the_one_that_stands_for_several(call):
    done = call("metrics", "warp_cycles_long*ratio")
    assert "sim__warp_cycles_{}_per_inst.ratio" in done.stdout


def test_no_such_metric_is_one_line(call):
    done = call("metrics", "furlongs")
    assert done.exit_code == 2
    assert done.stderr == "lockstep: no metric is called 'furlongs'; lockstep metrics lists all\n"
