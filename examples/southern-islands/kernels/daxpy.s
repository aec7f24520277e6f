; y[i] = a * x[i] + y[i] in double precision, rounded once.
;kernel:daxpy
;pointer:x:double:1:1:0:uav:10:8:RO:0:0
;pointer:y:double:1:1:16:uav:11:8:RW:0:0
;value:a:double:1:1:32
;value:n:u32:1:1:48
;reflection:0:double*
;reflection:1:double*
;reflection:2:double
;reflection:3:uint
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:8
;sgprs:34
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s13, s[8:11], 0x0          ; x
  s_buffer_load_dword s14, s[8:11], 0x4          ; y
  s_buffer_load_dwordx2 s[24:25], s[8:11], 0x8   ; a
  s_buffer_load_dword s15, s[8:11], 0xc          ; n
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  v_cmp_gt_u32 vcc, s15, v0
  s_and_saveexec_b64 s[28:29], vcc
  s_cbranch_execz done
  v_lshlrev_b32 v0, 3, v0
  buffer_load_dwordx2 v[2:3], v0, s[16:19], s13 offen
  buffer_load_dwordx2 v[4:5], v0, s[20:23], s14 offen
  s_waitcnt vmcnt(0)
  v_fma_f64 v[2:3], v[2:3], s[24:25], v[4:5]
  buffer_store_dwordx2 v[2:3], v0, s[20:23], s14 offen
done:
  s_endpgm
