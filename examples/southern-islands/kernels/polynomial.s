; out[i] = a polynomial of degree 7 at in[i]; its coefficients, the highest first, are data of the
; program: constant buffer 2, which scalar loads read.
;data:2:3c000000 bd000000 3e000000 bf000000 3f800000 c0000000 40400000 3f000000
;kernel:polynomial
;pointer:in:float:1:1:0:uav:10:4:RO:0:0
;pointer:out:float:1:1:16:uav:11:4:RW:0:0
;memory:datareqd
;reflection:0:float*
;reflection:1:float*
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;user:2:2:12:4
;vgprs:4
;sgprs:42
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s28, s[8:11], 0x0          ; in
  s_buffer_load_dword s29, s[8:11], 0x4          ; out
  s_load_dwordx4 s[20:23], s[2:3], 0x50
  s_load_dwordx4 s[24:27], s[2:3], 0x58
  s_buffer_load_dwordx8 s[32:39], s[12:15], 0x0
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s16, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  v_lshlrev_b32 v0, 2, v0
  buffer_load_dword v1, v0, s[20:23], s28 offen
  v_mov_b32 v2, s32
  s_waitcnt vmcnt(0)
  v_mad_f32 v2, v2, v1, s33
  v_mad_f32 v2, v2, v1, s34
  v_mad_f32 v2, v2, v1, s35
  v_mad_f32 v2, v2, v1, s36
  v_mad_f32 v2, v2, v1, s37
  v_mad_f32 v2, v2, v1, s38
  v_mad_f32 v2, v2, v1, s39
  buffer_store_dword v2, v0, s[24:27], s29 offen
  s_endpgm
