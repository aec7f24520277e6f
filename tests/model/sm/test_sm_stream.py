from lockstep.model.sm import stream


def test_a_run_of_no_instructions_is_skipped(tiny, idle_sms):
    c = idle_sms(tiny())
    warp = c.warps[0, 0]
    warp.run, warp.run_end = 0, 3
    c.runs["static"][:3] = [4, 5, 6]
    c.runs["count"][:3] = [0, 2, 0]
    c.runs["mask"][:3] = 1
    assert stream.next_run(c, 0, 0, 7)
    assert (warp.static, warp.left, warp.mask) == (5, 2, 1)
    assert not stream.next_run(c, 0, 0, 7)
