; Masks, moves between lanes and scalars, registers that M0 numbers; 64 words a result.
;kernel:lanes
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:out:u32:1:1:16:uav:11:4:RW:0:0
;reflection:0:uint*
;reflection:1:uint*
;user:4:10:4:4
;user:4:11:8:4
;vgprs:32
;sgprs:64
.macro put register
  buffer_store_dword \register, v1, s[8:11], 0 offen
  v_add_i32 v1, vcc, 0x100, v1
.endm
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v2, 2, v0
  buffer_load_dword v4, v2, s[4:7], 0 offen
  s_waitcnt vmcnt(0)
  v_readlane_b32 s20, v4, 17
  v_mov_b32 v6, s20
  put v6
  s_mov_b32 s21, 0x4d2
  v_mov_b32 v6, v4
  v_writelane_b32 v6, s21, 63
  put v6
  s_mov_b64 s[40:41], exec
  v_cmp_lt_u32 vcc, 31, v0
  s_and_saveexec_b64 s[22:23], vcc
  v_readfirstlane_b32 s24, v0
  v_mov_b32 v6, 0
  s_or_b64 exec, exec, s[22:23]
  put v6
  v_mov_b32 v6, s24
  put v6
  s_mov_b64 exec, 0
  v_readfirstlane_b32 s25, v4
  v_mov_b32 v6, 1
  s_cbranch_execz skip
  s_mov_b32 s25, 0
skip:
  s_mov_b64 exec, s[40:41]
  put v6
  v_mov_b32 v6, s25
  put v6
  v_mov_b32 v6, v4
  v_cmpx_eq_u32 vcc, 5, v0
  s_mov_b64 s[42:43], vcc
  v_mov_b32 v6, 9
  s_mov_b64 exec, s[40:41]
  put v6
  v_cndmask_b32 v6, v0, v4, s[42:43]
  put v6
  v_mov_b32 v10, 100
  v_mov_b32 v11, v4
  v_mov_b32 v12, 102
  s_mov_b32 m0, 1
  v_movrels_b32 v6, v10
  put v6
  s_mov_b64 exec, 0xff
  s_mov_b32 m0, 2
  v_movreld_b32 v10, v0
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v6, v12
  put v6
  s_mov_b32 m0, 1
  s_mov_b32 s30, 3
  s_mov_b32 s31, 4
  s_movrels_b32 s33, s30
  s_movreld_b32 s30, s21
  v_mov_b32 v6, s33
  put v6
  v_mov_b32 v6, s31
  put v6
  s_mov_b32 s20, 3
  v_mov_b32 v6, 0
loop:
  v_add_i32 v6, vcc, s20, v6
  s_sub_i32 s20, s20, 1
  s_cmp_gt_i32 s20, 0
  s_cbranch_scc1 loop
  put v6
  s_buffer_load_dwordx4 s[44:47], s[4:7], 0x2
  s_mov_b32 s20, 0x14
  s_buffer_load_dword s48, s[4:7], s20
  s_load_dwordx8 s[52:59], s[4:5], 0x4
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v6, s47
  put v6
  v_mov_b32 v6, s48
  put v6
  v_mov_b32 v6, s59
  put v6
  s_endpgm
