; c[i] = a[i] + b[i] for the items below n: the others are taken out of EXEC.
;kernel:vector_add
;pointer:a:float:1:1:0:uav:10:4:RO:0:0
;pointer:b:float:1:1:16:uav:11:4:RO:0:0
;pointer:c:float:1:1:32:uav:12:4:RW:0:0
;value:n:u32:1:1:48
;reflection:0:float*
;reflection:1:float*
;reflection:2:float*
;reflection:3:uint
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:5
;sgprs:34
  s_buffer_load_dword s0, s[4:7], 0x4            ; local size
  s_buffer_load_dword s1, s[4:7], 0x18           ; global offset
  s_buffer_load_dword s13, s[8:11], 0x0          ; a
  s_buffer_load_dword s14, s[8:11], 0x4          ; b
  s_buffer_load_dword s15, s[8:11], 0x8          ; c
  s_buffer_load_dword s28, s[8:11], 0xc          ; n
  s_load_dwordx4 s[16:19], s[2:3], 0x50          ; UAV 10
  s_load_dwordx4 s[20:23], s[2:3], 0x58          ; UAV 11
  s_load_dwordx4 s[24:27], s[2:3], 0x60          ; UAV 12
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0                      ; the item's number
  v_cmp_gt_u32 vcc, s28, v0
  s_and_saveexec_b64 s[30:31], vcc
  s_cbranch_execz done
  v_lshlrev_b32 v0, 2, v0
  v_add_i32 v1, vcc, s13, v0
  v_add_i32 v2, vcc, s14, v0
  v_add_i32 v0, vcc, s15, v0
  buffer_load_dword v3, v1, s[16:19], 0 offen
  buffer_load_dword v4, v2, s[20:23], 0 offen
  s_waitcnt vmcnt(0)
  v_add_f32 v3, v3, v4
  buffer_store_dword v3, v0, s[24:27], 0 offen
done:
  s_endpgm
