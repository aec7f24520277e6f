; What one wavefront gets from the local data share, 64 words a result.
;kernel:lds
;memory:hwlocal:4096
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
  s_mov_b32 m0, 0x8000
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v2, 2, v0
  v_lshlrev_b32 v3, 3, v0
  v_and_b32 v8, 7, v0
  v_lshlrev_b32 v8, 2, v8
  v_mov_b32 v9, 5
  buffer_load_dword v4, v2, s[4:7], 0 offen
  buffer_load_dword v5, v2, s[4:7], 0 offen offset:256
  s_waitcnt vmcnt(0)
  ds_write_b64 v3, v[4:5]
  ds_read2_b32 v[6:7], v3 offset0:1 offset1:0
  s_waitcnt lgkmcnt(0)
  put v6
  put v7
  ds_write2_b32 v2, v4, v5 offset0:128 offset1:192
  ds_read2st64_b32 v[6:7], v2 offset0:2 offset1:3
  s_waitcnt lgkmcnt(0)
  put v6
  put v7
  ds_read_i8 v6, v0 offset:513
  ds_read_u16 v7, v2 offset:514
  s_waitcnt lgkmcnt(0)
  put v6
  put v7
  ds_write_b8 v0, v4 offset:2048
  ds_read_u8 v6, v0 offset:2048
  s_waitcnt lgkmcnt(0)
  put v6
  ds_swizzle_b32 v6, v4 offset:0x801b
  ds_swizzle_b32 v7, v4 offset:0x0c1f
  s_waitcnt lgkmcnt(0)
  put v6
  put v7
  ds_write_b32 v8, v9 offset:1024
  ds_add_rtn_u32 v6, v8, v4 offset:1024
  put v6
  ds_rsub_rtn_u32 v6, v8, v4 offset:1024
  put v6
  ds_max_rtn_i32 v6, v8, v4 offset:1024
  put v6
  ds_min_rtn_u32 v6, v8, v5 offset:1024
  put v6
  ds_mskor_rtn_b32 v6, v8, v4, v5 offset:1024
  put v6
  ds_cmpst_rtn_b32 v6, v8, v4, v5 offset:1024
  put v6
  ds_wrxchg_rtn_b32 v6, v8, v4 offset:1024
  put v6
  ds_inc_rtn_u32 v6, v8, v9 offset:1024
  put v6
  ds_sub_u32 v8, v4 offset:1024
  ds_xor_b32 v8, v5 offset:1024
  ds_read_b32 v6, v8 offset:1024
  s_waitcnt lgkmcnt(0)
  put v6
  s_mov_b32 m0, 0x40
  v_mov_b32 v6, 7
  ds_read_b32 v6, v2
  s_waitcnt lgkmcnt(0)
  put v6
  s_endpgm
