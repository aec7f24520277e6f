; Each item takes a number from a counter and writes it to out[i]: what an atomic returns (GLC).
; in is read past the L1 (GLC, SLC) and added, so that loads of this kind are there, too.
;kernel:tickets
;pointer:counter:u32:1:1:0:uav:10:4:RW:0:0
;pointer:in:u32:1:1:16:uav:11:4:RO:0:0
;pointer:out:u32:1:1:32:uav:12:4:RW:0:0
;reflection:0:uint*
;reflection:1:uint*
;reflection:2:uint*
;user:23:0:2:2
;user:2:0:4:4
;user:2:1:8:4
;vgprs:5
;sgprs:34
  s_buffer_load_dword s0, s[4:7], 0x4
  s_buffer_load_dword s1, s[4:7], 0x18
  s_buffer_load_dword s13, s[8:11], 0x0          ; counter
  s_buffer_load_dword s14, s[8:11], 0x4          ; in
  s_buffer_load_dword s15, s[8:11], 0x8          ; out
  s_load_dwordx4 s[16:19], s[2:3], 0x50
  s_load_dwordx4 s[20:23], s[2:3], 0x58
  s_load_dwordx4 s[24:27], s[2:3], 0x60
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s12, s0
  s_add_i32 s0, s0, s1
  v_add_i32 v0, vcc, s0, v0
  v_lshlrev_b32 v0, 2, v0
  v_mov_b32 v1, 1
  v_mov_b32 v2, 0
  buffer_atomic_add v1, v2, s[16:19], s13 offen glc
  buffer_load_dword v3, v0, s[20:23], s14 offen glc slc
  s_waitcnt vmcnt(0)
  v_add_i32 v1, vcc, v1, v3
  buffer_store_dword v1, v0, s[24:27], s15 offen glc slc
  s_endpgm
