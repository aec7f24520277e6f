; Elements of formats, 64 words a result.
;kernel:formats
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
  v_lshlrev_b32 v3, 3, v0
  tbuffer_load_format_xyzw v[10:13], v2, s[4:7], dfmt:10, nfmt:0, 0 offen
  s_waitcnt vmcnt(0)
  put v10
  put v13
  tbuffer_load_format_xyzw v[10:13], v2, s[4:7], dfmt:5, nfmt:1, 0 offen
  s_waitcnt vmcnt(0)
  put v11
  put v12
  put v13
  tbuffer_load_format_xyz v[10:12], v2, s[4:7], dfmt:9, nfmt:4, 0 offen
  s_waitcnt vmcnt(0)
  put v10
  put v12
  tbuffer_load_format_xy v[10:11], v2, s[4:7], dfmt:5, nfmt:7, 0 offen
  s_waitcnt vmcnt(0)
  put v10
  put v11
  tbuffer_load_format_x v10, v0, s[4:7], dfmt:1, nfmt:3, 0 offen
  s_waitcnt vmcnt(0)
  put v10
  ; formats of a descriptor: four bytes without a sign, as whole numbers
  s_mov_b64 s[16:17], s[4:5]
  s_mov_b32 s18, s6
  s_mov_b32 s19, 0x54fac
  buffer_load_format_xyzw v[10:13], v2, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  put v10
  put v12
  buffer_load_dwordx4 v[20:23], v2, s[4:7], 0 offen offset:256
  s_waitcnt vmcnt(0)
  tbuffer_store_format_xyzw v[20:23], v2, s[8:11], dfmt:10, nfmt:0, 0 offen offset:4000
  buffer_load_dword v6, v2, s[8:11], 0 offen offset:4000
  s_waitcnt vmcnt(0)
  put v6
  tbuffer_store_format_xy v[20:21], v2, s[8:11], dfmt:5, nfmt:7, 0 offen offset:4000
  buffer_load_dword v6, v2, s[8:11], 0 offen offset:4000
  s_waitcnt vmcnt(0)
  put v6
  s_endpgm
