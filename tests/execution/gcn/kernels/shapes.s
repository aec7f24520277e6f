; Sizes and shapes of accesses to the local data share and to buffers, 64 words a result.
; v4 and v5 are two words of an item.
;kernel:shapes
;memory:hwlocal:8192
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
  v_lshlrev_b32 v8, 4, v0
  buffer_load_dword v4, v2, s[4:7], 0 offen
  buffer_load_dword v5, v2, s[4:7], 0 offen offset:256
  s_waitcnt vmcnt(0)
  v_mov_b32 v6, v4
  ds_write_b64 v3, v[4:5]
  ds_read_b64 v[10:11], v3
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  ds_write2_b64 v3, v[4:5], v[5:6] offset0:64 offset1:128
  ds_read2_b64 v[10:13], v3 offset0:128 offset1:64
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_write2st64_b64 v3, v[5:6], v[4:5] offset0:3 offset1:4
  ds_read2st64_b64 v[10:13], v3 offset0:4 offset1:3
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_wrxchg2st64_rtn_b64 v[10:13], v3, v[4:5], v[5:6] offset0:3 offset1:4
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_read2st64_b64 v[10:13], v3 offset0:3 offset1:4
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_wrxchg2_rtn_b64 v[10:13], v3, v[5:6], v[4:5] offset0:64 offset1:128
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_read2_b64 v[10:13], v3 offset0:64 offset1:128
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_write2st64_b32 v2, v5, v4 offset0:16 offset1:17
  ds_read2st64_b32 v[10:11], v2 offset0:16 offset1:17
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  ds_wrxchg2st64_rtn_b32 v[10:11], v2, v4, v5 offset0:16 offset1:17
  ds_read2st64_b32 v[12:13], v2 offset0:16 offset1:17
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_write2_b32 v2, v4, v5 offset0:0 offset1:64
  ds_wrxchg2_rtn_b32 v[10:11], v2, v4, v5 offset0:64 offset1:0
  ds_read2_b32 v[12:13], v2 offset0:64 offset1:0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  put v13
  ds_write_b16 v2, v4 offset:5000
  ds_read_i16 v10, v2 offset:5000
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  ; buffers
  s_mov_b32 s20, 0x8000
  buffer_load_dwordx3 v[10:12], v2, s[4:7], 0 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  buffer_store_dwordx3 v[10:12], v8, s[8:11], s20 offen
  buffer_load_dwordx4 v[12:15], v8, s[8:11], s20 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v12
  put v13
  put v14
  put v15
  ; formats of descriptors: four bytes without a sign, as whole numbers
  s_mov_b64 s[16:17], s[4:5]
  s_mov_b32 s18, s6
  s_mov_b32 s19, 0x54fac
  s_mov_b64 s[24:25], s[8:9]
  s_mov_b32 s26, s10
  s_mov_b32 s27, s19
  buffer_load_format_x v10, v2, s[16:19], 0 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  buffer_load_format_xy v[10:11], v2, s[16:19], 0 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  buffer_load_format_xyz v[10:12], v2, s[16:19], 0 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v10
  put v11
  put v12
  v_add_i32 v10, vcc, 10, v0
  v_add_i32 v11, vcc, 20, v0
  v_add_i32 v12, vcc, 30, v0
  v_add_i32 v13, vcc, 0xf0, v0
  buffer_store_format_x v10, v2, s[24:27], s20 offen
  buffer_load_dword v14, v2, s[8:11], s20 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v14
  buffer_store_format_xy v[10:11], v2, s[24:27], s20 offen
  buffer_load_dword v14, v2, s[8:11], s20 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v14
  buffer_store_format_xyz v[10:12], v2, s[24:27], s20 offen
  buffer_load_dword v14, v2, s[8:11], s20 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v14
  buffer_store_format_xyzw v[10:13], v2, s[24:27], s20 offen
  buffer_load_dword v14, v2, s[8:11], s20 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v14
  tbuffer_store_format_xyz v[10:12], v2, s[8:11], dfmt:10, nfmt:4, s20 offen
  buffer_load_dword v14, v2, s[8:11], s20 offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v14
  tbuffer_store_format_x v13, v2, s[8:11], dfmt:1, nfmt:4, s20 offen offset:2
  buffer_load_dword v14, v2, s[8:11], s20 offen
  buffer_wbinvl1
  buffer_wbinvl1_sc
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  put v14
  s_endpgm
