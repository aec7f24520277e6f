; out = the inclusive sums of in within each group of 256, in the order of Hillis and Steele.
;kernel:scan
;memory:hwlocal:1024
;cws:256:1:1
;pointer:in:float:1:1:0:uav:10:4:RO:0:0
;pointer:out:float:1:1:16:uav:11:4:RW:0:0
;reflection:0:float*
;reflection:1:float*
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:5
;sgprs:30
  s_mov_b32 m0, 0x8000
  s_buffer_load_dword s13, s[8:11], 0x0          ; in
  s_buffer_load_dword s14, s[8:11], 0x4          ; out
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_lshl_b32 s0, s12, 10
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_add_i32 s13, s13, s0
  s_add_i32 s14, s14, s0
  buffer_load_dword v2, v1, s[16:19], s13 offen
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v2
  s_mov_b32 s1, 1
step:
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_lshl_b32 s15, s1, 2
  v_subrev_i32 v3, vcc, s15, v1
  v_mov_b32 v4, 0
  v_cmp_le_u32 vcc, s1, v0
  s_and_saveexec_b64 s[24:25], vcc
  ds_read_b32 v4, v3
  s_mov_b64 exec, s[24:25]
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_add_f32 v2, v4, v2
  ds_write_b32 v1, v2
  s_lshl_b32 s1, s1, 1
  s_cmp_lt_u32 s1, 0x100
  s_cbranch_scc1 step
  buffer_store_dword v2, v1, s[20:23], s14 offen
  s_endpgm
