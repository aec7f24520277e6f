; out[i] = in[i] + delta, at least 0 and at most 255: one byte an item.
;kernel:brighten
;pointer:in:u8:1:1:0:uav:10:1:RO:0:0
;pointer:out:u8:1:1:16:uav:11:1:RW:0:0
;value:delta:i32:1:1:32
;reflection:0:uchar*
;reflection:1:uchar*
;reflection:2:int
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:3
;sgprs:30
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s13, s[8:11], 0x0          ; in
  s_buffer_load_dword s14, s[8:11], 0x4          ; out
  s_buffer_load_dword s15, s[8:11], 0x8          ; delta
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  buffer_load_ubyte v1, v0, s[16:19], s13 offen
  v_mov_b32 v2, 0xff
  s_waitcnt vmcnt(0)
  v_add_i32 v1, vcc, s15, v1
  v_med3_i32 v1, v1, 0, v2
  buffer_store_byte v1, v0, s[20:23], s14 offen
  s_endpgm
