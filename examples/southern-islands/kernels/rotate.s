; out[8 i + j] = in[8 i + (j + shift) mod 8]: eight registers that M0 indexes.
;kernel:rotate
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:out:u32:1:1:16:uav:11:4:RW:0:0
;value:shift:u32:1:1:32
;reflection:0:uint*
;reflection:1:uint*
;reflection:2:uint
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:20
;sgprs:30
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s13, s[8:11], 0x0          ; in
  s_buffer_load_dword s14, s[8:11], 0x4          ; out
  s_buffer_load_dword s15, s[8:11], 0x8          ; shift
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  v_lshlrev_b32 v0, 5, v0
  buffer_load_dwordx4 v[4:7], v0, s[16:19], s13 offen
  buffer_load_dwordx4 v[8:11], v0, s[16:19], s13 offen offset:16
  s_mov_b32 s24, 0
  s_waitcnt vmcnt(0)
next:
  s_add_i32 s25, s24, s15
  s_and_b32 m0, s25, 7
  v_movrels_b32 v1, v4
  s_mov_b32 m0, s24
  v_movreld_b32 v12, v1
  s_add_i32 s24, s24, 1
  s_cmp_lt_u32 s24, 8
  s_cbranch_scc1 next
  buffer_store_dwordx4 v[12:15], v0, s[20:23], s14 offen
  buffer_store_dwordx4 v[16:19], v0, s[20:23], s14 offen offset:16
  s_endpgm
