; out = in transposed, by tiles of 16 x 16 in LDS; a row of a tile is 17 words apart from the next.
; width and height are those of in, and multiples of 16.
;kernel:transpose
;memory:hwlocal:1088
;cws:16:16:1
;pointer:out:float:1:1:0:uav:11:4:RW:0:0
;pointer:in:float:1:1:16:uav:10:4:RO:0:0
;value:width:u32:1:1:32
;value:height:u32:1:1:48
;reflection:0:float*
;reflection:1:float*
;reflection:2:uint
;reflection:3:uint
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;groups:xy
;items:2
;vgprs:6
;sgprs:30
  s_mov_b32 m0, 0x8000
  s_buffer_load_dword s14, s[8:11], 0x0          ; out
  s_buffer_load_dword s15, s[8:11], 0x4          ; in
  s_buffer_load_dword s24, s[8:11], 0x8          ; width
  s_buffer_load_dword s25, s[8:11], 0xc          ; height
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_lshl_b32 s0, s12, 4                          ; the tile's column
  s_lshl_b32 s1, s13, 4                          ; the tile's row
  v_add_i32 v2, vcc, s0, v0
  v_add_i32 v3, vcc, s1, v1
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v3, v3, s24
  v_add_i32 v2, vcc, v2, v3
  v_lshlrev_b32 v2, 2, v2
  v_add_i32 v2, vcc, s15, v2
  buffer_load_dword v4, v2, s[16:19], 0 offen
  v_mad_u32_u24 v5, v1, 17, v0
  v_lshlrev_b32 v5, 2, v5
  s_waitcnt vmcnt(0)
  ds_write_b32 v5, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_mad_u32_u24 v5, v0, 17, v1
  v_lshlrev_b32 v5, 2, v5
  ds_read_b32 v4, v5
  v_add_i32 v2, vcc, s1, v0
  v_add_i32 v3, vcc, s0, v1
  v_mul_lo_u32 v3, v3, s25
  v_add_i32 v2, vcc, v2, v3
  v_lshlrev_b32 v2, 2, v2
  v_add_i32 v2, vcc, s14, v2
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v4, v2, s[20:23], 0 offen
  s_endpgm
