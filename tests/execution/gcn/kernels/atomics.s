; Every atomic operation. An item has what it brings, what it compares with, and what its cell begins
; with, 8 bytes each; a row of 16 bytes an item gets what was there, and what is left.
; Those of buffers; narrow ones leave what they compare with in the second word.
;kernel:buffers
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:out:u32:1:1:16:uav:11:4:RW:0:0
;reflection:0:uint*
;reflection:1:uint*
;user:4:10:4:4
;user:4:11:8:4
;vgprs:32
;sgprs:32
.macro change operation, register, first, second, third
  v_mov_b32 v10, v4
  v_mov_b32 v11, \first
  v_mov_b32 v12, \second
  v_mov_b32 v13, \third
  buffer_store_dwordx2 v[8:9], v2, s[8:11], s20 offen
  \operation \register, v2, s[8:11], s20 offen glc
  s_waitcnt vmcnt(0)
  buffer_load_dwordx2 v[14:15], v2, s[8:11], s20 offen
  s_waitcnt vmcnt(0)
  buffer_store_dwordx2 v[10:11], v1, s[8:11], 0 offen
  buffer_store_dwordx2 v[14:15], v1, s[8:11], 0 offen offset:8
  v_add_i32 v1, vcc, 0x400, v1
.endm
  v_lshlrev_b32 v1, 5, v0
  buffer_load_dwordx4 v[4:7], v1, s[4:7], 0 offen
  buffer_load_dwordx2 v[8:9], v1, s[4:7], 0 offen offset:16
  v_lshlrev_b32 v1, 4, v0
  v_and_b32 v2, 7, v0                            ; eight cells
  v_lshlrev_b32 v2, 3, v2
  s_mov_b32 s20, 0x20000
  s_mov_b32 m0, 0x8000
  s_waitcnt vmcnt(0)
  change buffer_atomic_swap, v10, v6, v6, v6
  change buffer_atomic_cmpswap, v[10:11], v6, v6, v6
  change buffer_atomic_add, v10, v6, v6, v6
  change buffer_atomic_sub, v10, v6, v6, v6
  change buffer_atomic_smin, v10, v6, v6, v6
  change buffer_atomic_umin, v10, v6, v6, v6
  change buffer_atomic_smax, v10, v6, v6, v6
  change buffer_atomic_umax, v10, v6, v6, v6
  change buffer_atomic_and, v10, v6, v6, v6
  change buffer_atomic_or, v10, v6, v6, v6
  change buffer_atomic_xor, v10, v6, v6, v6
  change buffer_atomic_inc, v10, v6, v6, v6
  change buffer_atomic_dec, v10, v6, v6, v6
  change buffer_atomic_fcmpswap, v[10:11], v6, v6, v6
  change buffer_atomic_fmin, v10, v6, v6, v6
  change buffer_atomic_fmax, v10, v6, v6, v6
  change buffer_atomic_swap_x2, v[10:11], v5, v6, v7
  change buffer_atomic_cmpswap_x2, v[10:13], v5, v6, v7
  change buffer_atomic_add_x2, v[10:11], v5, v6, v7
  change buffer_atomic_sub_x2, v[10:11], v5, v6, v7
  change buffer_atomic_smin_x2, v[10:11], v5, v6, v7
  change buffer_atomic_umin_x2, v[10:11], v5, v6, v7
  change buffer_atomic_smax_x2, v[10:11], v5, v6, v7
  change buffer_atomic_umax_x2, v[10:11], v5, v6, v7
  change buffer_atomic_and_x2, v[10:11], v5, v6, v7
  change buffer_atomic_or_x2, v[10:11], v5, v6, v7
  change buffer_atomic_xor_x2, v[10:11], v5, v6, v7
  change buffer_atomic_inc_x2, v[10:11], v5, v6, v7
  change buffer_atomic_dec_x2, v[10:11], v5, v6, v7
  change buffer_atomic_fcmpswap_x2, v[10:13], v5, v6, v7
  change buffer_atomic_fmin_x2, v[10:11], v5, v6, v7
  change buffer_atomic_fmax_x2, v[10:11], v5, v6, v7
  s_endpgm
; Those of the local data share; what was there is zero where it is not asked for.
;kernel:lds
;memory:hwlocal:64
;pointer:in:u32:1:1:0:uav:10:4:RO:0:0
;pointer:out:u32:1:1:16:uav:11:4:RW:0:0
;reflection:0:uint*
;reflection:1:uint*
;user:4:10:4:4
;user:4:11:8:4
;vgprs:32
;sgprs:32
.macro begin
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  ds_write_b64 v2, v[8:9]
.endm
.macro finish
  ds_read_b64 v[14:15], v2
  s_waitcnt lgkmcnt(0)
  buffer_store_dwordx2 v[10:11], v1, s[8:11], 0 offen
  buffer_store_dwordx2 v[14:15], v1, s[8:11], 0 offen offset:8
  v_add_i32 v1, vcc, 0x400, v1
.endm
  v_lshlrev_b32 v1, 5, v0
  buffer_load_dwordx4 v[4:7], v1, s[4:7], 0 offen
  buffer_load_dwordx2 v[8:9], v1, s[4:7], 0 offen offset:16
  v_lshlrev_b32 v1, 4, v0
  v_and_b32 v2, 7, v0                            ; eight cells
  v_lshlrev_b32 v2, 3, v2
  s_mov_b32 s20, 0x20000
  s_mov_b32 m0, 0x8000
  s_waitcnt vmcnt(0)
  begin
  ds_add_u32 v2, v4
  finish
  begin
  ds_sub_u32 v2, v4
  finish
  begin
  ds_rsub_u32 v2, v4
  finish
  begin
  ds_inc_u32 v2, v4
  finish
  begin
  ds_dec_u32 v2, v4
  finish
  begin
  ds_min_i32 v2, v4
  finish
  begin
  ds_max_i32 v2, v4
  finish
  begin
  ds_min_u32 v2, v4
  finish
  begin
  ds_max_u32 v2, v4
  finish
  begin
  ds_and_b32 v2, v4
  finish
  begin
  ds_or_b32 v2, v4
  finish
  begin
  ds_xor_b32 v2, v4
  finish
  begin
  ds_mskor_b32 v2, v6, v4
  finish
  begin
  ds_cmpst_b32 v2, v6, v4
  finish
  begin
  ds_cmpst_f32 v2, v6, v4
  finish
  begin
  ds_min_f32 v2, v4
  finish
  begin
  ds_max_f32 v2, v4
  finish
  begin
  ds_add_rtn_u32 v10, v2, v4
  finish
  begin
  ds_sub_rtn_u32 v10, v2, v4
  finish
  begin
  ds_rsub_rtn_u32 v10, v2, v4
  finish
  begin
  ds_inc_rtn_u32 v10, v2, v4
  finish
  begin
  ds_dec_rtn_u32 v10, v2, v4
  finish
  begin
  ds_min_rtn_i32 v10, v2, v4
  finish
  begin
  ds_max_rtn_i32 v10, v2, v4
  finish
  begin
  ds_min_rtn_u32 v10, v2, v4
  finish
  begin
  ds_max_rtn_u32 v10, v2, v4
  finish
  begin
  ds_and_rtn_b32 v10, v2, v4
  finish
  begin
  ds_or_rtn_b32 v10, v2, v4
  finish
  begin
  ds_xor_rtn_b32 v10, v2, v4
  finish
  begin
  ds_mskor_rtn_b32 v10, v2, v6, v4
  finish
  begin
  ds_wrxchg_rtn_b32 v10, v2, v4
  finish
  begin
  ds_cmpst_rtn_b32 v10, v2, v6, v4
  finish
  begin
  ds_cmpst_rtn_f32 v10, v2, v6, v4
  finish
  begin
  ds_min_rtn_f32 v10, v2, v4
  finish
  begin
  ds_max_rtn_f32 v10, v2, v4
  finish
  begin
  ds_add_u64 v2, v[4:5]
  finish
  begin
  ds_sub_u64 v2, v[4:5]
  finish
  begin
  ds_rsub_u64 v2, v[4:5]
  finish
  begin
  ds_inc_u64 v2, v[4:5]
  finish
  begin
  ds_dec_u64 v2, v[4:5]
  finish
  begin
  ds_min_i64 v2, v[4:5]
  finish
  begin
  ds_max_i64 v2, v[4:5]
  finish
  begin
  ds_min_u64 v2, v[4:5]
  finish
  begin
  ds_max_u64 v2, v[4:5]
  finish
  begin
  ds_and_b64 v2, v[4:5]
  finish
  begin
  ds_or_b64 v2, v[4:5]
  finish
  begin
  ds_xor_b64 v2, v[4:5]
  finish
  begin
  ds_mskor_b64 v2, v[6:7], v[4:5]
  finish
  begin
  ds_cmpst_b64 v2, v[6:7], v[4:5]
  finish
  begin
  ds_cmpst_f64 v2, v[6:7], v[4:5]
  finish
  begin
  ds_min_f64 v2, v[4:5]
  finish
  begin
  ds_max_f64 v2, v[4:5]
  finish
  begin
  ds_add_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_sub_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_rsub_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_inc_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_dec_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_min_rtn_i64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_max_rtn_i64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_min_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_max_rtn_u64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_and_rtn_b64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_or_rtn_b64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_xor_rtn_b64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_mskor_rtn_b64 v[10:11], v2, v[6:7], v[4:5]
  finish
  begin
  ds_wrxchg_rtn_b64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_cmpst_rtn_b64 v[10:11], v2, v[6:7], v[4:5]
  finish
  begin
  ds_cmpst_rtn_f64 v[10:11], v2, v[6:7], v[4:5]
  finish
  begin
  ds_min_rtn_f64 v[10:11], v2, v[4:5]
  finish
  begin
  ds_max_rtn_f64 v[10:11], v2, v[4:5]
  finish
  s_endpgm
