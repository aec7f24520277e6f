; Work-groups of 128 items, two wavefronts, that share words of LDS in ways that are right or not.
; Nothing orders the write and the read.
;kernel:unordered
;memory:hwlocal:512
;pointer:out:u32:1:1:0:uav:10:4:RW:0:0
;reflection:0:uint*
;user:4:10:4:4
;vgprs:8
;sgprs:24
  s_mov_b32 m0, 0x8000
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1                        ; the word of the lane in the other wavefront
  ds_write_b32 v1, v0
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v3, v1, s[4:7], 0 offen
  s_endpgm
; A barrier does.
;kernel:ordered
;memory:hwlocal:512
;pointer:out:u32:1:1:0:uav:10:4:RW:0:0
;reflection:0:uint*
;user:4:10:4:4
;vgprs:8
;sgprs:24
  s_mov_b32 m0, 0x8000
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1                        ; the word of the lane in the other wavefront
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v3, v1, s[4:7], 0 offen
  s_endpgm
; Each wavefront shares words with itself: lane 63's with lane 0.
;kernel:one_wavefront
;memory:hwlocal:512
;pointer:out:u32:1:1:0:uav:10:4:RW:0:0
;reflection:0:uint*
;user:4:10:4:4
;vgprs:8
;sgprs:24
  s_mov_b32 m0, 0x8000
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1                        ; the word of the lane in the other wavefront
  v_xor_b32 v2, 0xfc, v1
  ds_write_b32 v1, v0
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v3, v1, s[4:7], 0 offen
  s_endpgm
; Lanes 30 and 62 of each wavefront write different numbers to a word.
;kernel:same_word
;memory:hwlocal:512
;pointer:out:u32:1:1:0:uav:10:4:RW:0:0
;reflection:0:uint*
;user:4:10:4:4
;vgprs:8
;sgprs:24
  s_mov_b32 m0, 0x8000
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1                        ; the word of the lane in the other wavefront
  v_and_b32 v2, 0x17c, v1
  v_and_b32 v4, 31, v0
  v_cmp_eq_u32 vcc, 30, v4
  s_and_saveexec_b64 s[8:9], vcc
  ds_write_b32 v2, v0
  s_mov_b64 exec, s[8:9]
  v_mov_b32 v3, v0
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v3, v1, s[4:7], 0 offen
  s_endpgm
; Atomic operations order themselves.
;kernel:atomics
;memory:hwlocal:512
;pointer:out:u32:1:1:0:uav:10:4:RW:0:0
;reflection:0:uint*
;user:4:10:4:4
;vgprs:8
;sgprs:24
  s_mov_b32 m0, 0x8000
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1                        ; the word of the lane in the other wavefront
  v_mov_b32 v2, 0
  ds_add_u32 v2, v0
  v_mov_b32 v3, v0
  s_waitcnt lgkmcnt(0)
  buffer_store_dword v3, v1, s[4:7], 0 offen
  s_endpgm
