; out[i] = how many steps of Collatz lead from in[i] to 1: a loop that each lane leaves in its turn.
;kernel:collatz
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:out:u32:1:1:16:uav:11:4:RW:0:0
;reflection:0:uint*
;reflection:1:uint*
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:7
;sgprs:30
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s13, s[8:11], 0x0          ; in
  s_buffer_load_dword s14, s[8:11], 0x4          ; out
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  v_lshlrev_b32 v0, 2, v0
  buffer_load_dword v1, v0, s[16:19], s13 offen
  v_mov_b32 v2, 0
  s_mov_b64 s[24:25], exec
  s_waitcnt vmcnt(0)
again:
  v_cmp_lt_u32 vcc, 1, v1
  s_and_b64 exec, exec, vcc
  s_cbranch_execz ended
  v_lshrrev_b32 v3, 1, v1
  v_mul_lo_u32 v4, v1, 3
  v_add_i32 v4, vcc, 1, v4
  v_and_b32 v5, 1, v1
  v_cmp_eq_u32 vcc, 1, v5
  v_cndmask_b32 v1, v3, v4, vcc
  v_add_i32 v2, vcc, 1, v2
  s_branch again
ended:
  s_mov_b64 exec, s[24:25]
  buffer_store_dword v2, v0, s[20:23], s14 offen
  s_endpgm
