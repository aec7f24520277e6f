; What a wavefront does with EXEC, its scalar registers and its pc, 64 words a result.
;kernel:scalars
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:out:u32:1:1:16:uav:11:4:RW:0:0
;reflection:0:uint*
;reflection:1:uint*
;user:4:10:4:4
;user:4:11:8:4
;vgprs:32
;sgprs:102
.macro put register
  buffer_store_dword \register, v1, s[8:11], 0 offen
  v_add_i32 v1, vcc, 0x100, v1
.endm
  v_lshlrev_b32 v1, 2, v0
  s_mov_b64 s[40:41], exec
  s_mov_b64 s[22:23], 0x3c                       ; lanes 2 to 5
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_and_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_or_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_xor_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_andn2_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_orn2_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_nand_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_nor_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  v_mov_b32 v10, 3
  s_mov_b64 exec, 0xf0                           ; lanes 4 to 7
  s_xnor_saveexec_b64 s[20:21], s[22:23]
  v_mov_b32 v10, 7
  s_cselect_b32 s24, 1, 0
  s_mov_b64 exec, s[40:41]
  put v10
  v_mov_b32 v10, s20
  put v10
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_cmp_eq_u32 s22, 0
  s_cbranch_scc0 on0
  s_movk_i32 s24, 2
on0:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_cmp_eq_u32 s22, 0x3c
  s_cbranch_scc0 on1
  s_movk_i32 s24, 2
on1:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_cmp_eq_u32 s22, 0x3c
  s_cbranch_scc1 on2
  s_movk_i32 s24, 2
on2:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_cmp_eq_u32 s22, 0
  s_cbranch_scc1 on3
  s_movk_i32 s24, 2
on3:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 vcc, 0
  s_cbranch_vccz on4
  s_movk_i32 s24, 2
on4:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 vcc, s[40:41]
  s_cbranch_vccz on5
  s_movk_i32 s24, 2
on5:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 vcc, s[22:23]
  s_cbranch_vccnz on6
  s_movk_i32 s24, 2
on6:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 vcc, 0
  s_cbranch_vccnz on7
  s_movk_i32 s24, 2
on7:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 exec, 0
  s_cbranch_execz on8
  s_movk_i32 s24, 2
on8:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 exec, s[40:41]
  s_cbranch_execz on9
  s_movk_i32 s24, 2
on9:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 exec, s[40:41]
  s_cbranch_execnz on10
  s_movk_i32 s24, 2
on10:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_mov_b64 exec, 0
  s_cbranch_execnz on11
  s_movk_i32 s24, 2
on11:
  s_mov_b64 exec, s[40:41]
  v_mov_b32 v10, s24
  put v10
  s_movk_i32 s24, 1
  s_branch on
  s_movk_i32 s24, 2
on:
  v_mov_b32 v10, s24
  put v10
  s_load_dword s44, s[4:5], 0x3
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  s_load_dwordx2 s[44:45], s[4:5], 0x4
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  v_mov_b32 v10, s45
  put v10
  s_load_dwordx4 s[44:47], s[4:5], 0x8
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  v_mov_b32 v10, s47
  put v10
  s_load_dwordx16 s[44:59], s[4:5], 0x10
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  v_mov_b32 v10, s59
  put v10
  s_buffer_load_dwordx2 s[44:45], s[4:7], 0x5
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  v_mov_b32 v10, s45
  put v10
  s_buffer_load_dwordx8 s[44:51], s[4:7], 0x9
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  v_mov_b32 v10, s51
  put v10
  s_buffer_load_dwordx16 s[44:59], s[4:7], 0x20
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s44
  put v10
  v_mov_b32 v10, s59
  put v10
  s_mov_b32 m0, 2
  s_movrels_b64 s[60:61], s[44:45]
  s_movreld_b64 s[62:63], s[44:45]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s60
  put v10
  v_mov_b32 v10, s61
  put v10
  v_mov_b32 v10, s64
  put v10
  v_mov_b32 v10, s65
  put v10
  v_mov_b32 v12, 12
  v_add_i32 v14, vcc, 14, v0
  v_mov_b32 v16, 16
  v_mov_b32 v18, 18
  s_mov_b64 exec, s[22:23]
  v_movrelsd_b32 v16, v12                        ; v18 = v14
  s_mov_b64 exec, s[40:41]
  put v16
  put v18
  s_memtime s[44:45]
  s_nop 3
  s_sleep 1
  s_setprio 2
  s_icache_inv
  s_dcache_inv
  s_incperflevel 1
  s_decperflevel 1
  v_nop
  v_clrexcp
  s_memtime s[46:47]
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s48, s46, s44
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s48
  put v10
  s_endpgm
; It stops the launch.
;kernel:trap
;vgprs:4
;sgprs:16
  s_trap 1
