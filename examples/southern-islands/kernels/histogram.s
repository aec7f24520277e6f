; bins[b] += how often byte b occurs in in: counted in LDS, added to memory by each group of 256.
; An item reads `words` words.
;kernel:histogram
;memory:hwlocal:1024
;cws:256:1:1
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:bins:u32:1:1:16:uav:11:4:RW:0:0
;value:words:u32:1:1:32
;reflection:0:uint*
;reflection:1:uint*
;reflection:2:uint
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:8
;sgprs:30
  s_mov_b32 m0, 0x8000
  s_buffer_load_dword s13, s[8:11], 0x0          ; in
  s_buffer_load_dword s14, s[8:11], 0x4          ; bins
  s_buffer_load_dword s15, s[8:11], 0x8          ; words
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_mul_i32 s0, s12, s15
  s_lshl_b32 s0, s0, 10
  s_add_i32 s0, s0, s13
  s_cmp_eq_u32 s15, 0
  s_cbranch_scc1 counted
word:
  buffer_load_dword v4, v1, s[16:19], s0 offen
  s_waitcnt vmcnt(0)
  v_bfe_u32 v5, v4, 0, 8
  v_bfe_u32 v6, v4, 8, 8
  v_bfe_u32 v7, v4, 16, 8
  v_lshrrev_b32 v4, 24, v4
  v_lshlrev_b32 v5, 2, v5
  v_lshlrev_b32 v6, 2, v6
  v_lshlrev_b32 v7, 2, v7
  v_lshlrev_b32 v4, 2, v4
  ds_add_u32 v5, v3
  ds_add_u32 v6, v3
  ds_add_u32 v7, v3
  ds_add_u32 v4, v3
  s_addk_i32 s0, 0x400
  s_sub_i32 s15, s15, 1
  s_cmp_lg_u32 s15, 0
  s_cbranch_scc1 word
counted:
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  buffer_atomic_add v2, v1, s[20:23], s14 offen
  s_endpgm
