; out[i] = factor * in[i] for four floats an item, by typed loads and stores.
;kernel:scale4
;pointer:in:float:1:1:0:uav:10:16:RO:0:0
;pointer:out:float:1:1:16:uav:11:16:RW:0:0
;value:factor:float:1:1:32
;reflection:0:float4*
;reflection:1:float4*
;reflection:2:float
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:8
;sgprs:30
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s13, s[8:11], 0x0          ; in
  s_buffer_load_dword s14, s[8:11], 0x4          ; out
  s_buffer_load_dword s15, s[8:11], 0x8          ; factor
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  v_lshlrev_b32 v0, 4, v0
  tbuffer_load_format_xyzw v[4:7], v0, s[16:19], dfmt:14, nfmt:7, s13 offen
  s_waitcnt vmcnt(0)
  v_mul_f32 v4, s15, v4
  v_mul_f32 v5, s15, v5
  v_mul_f32 v6, s15, v6
  v_mul_f32 v7, s15, v7
  tbuffer_store_format_xyzw v[4:7], v0, s[20:23], dfmt:14, nfmt:7, s14 offen
  s_endpgm
