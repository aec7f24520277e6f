; What one wavefront gets from buffers, 64 words a result.
;kernel:buffers
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
  v_lshlrev_b32 v3, 4, v0
  v_mov_b32 v9, 3
  s_mov_b32 s20, 0x80
  buffer_load_sbyte v6, v0, s[4:7], 0 offen
  buffer_load_ubyte v7, v0, s[4:7], s20 offen offset:3
  s_waitcnt vmcnt(0)
  put v6
  put v7
  buffer_load_sshort v6, v2, s[4:7], 0 offen offset:2
  buffer_load_ushort v7, v2, s[4:7], 0 offen
  s_waitcnt vmcnt(0)
  put v6
  put v7
  buffer_load_dwordx4 v[10:13], v3, s[4:7], 0 offen glc slc
  s_waitcnt vmcnt(0)
  put v10
  put v13
  buffer_load_dwordx2 v[10:11], v2, s[4:7], 0 offen offset:4
  s_waitcnt vmcnt(0)
  put v10
  put v11
  ; a stride of 16 bytes, and 40 records
  s_mov_b64 s[16:17], s[4:5]
  s_or_b32 s17, s17, 0x100000
  s_mov_b32 s18, 40
  s_mov_b32 s19, s7
  buffer_load_dword v6, v0, s[16:19], 0 idxen offset:8
  s_waitcnt vmcnt(0)
  put v6
  ; 100 bytes
  s_mov_b64 s[24:25], s[4:5]
  s_mov_b32 s26, 100
  s_mov_b32 s27, s7
  buffer_load_dword v6, v2, s[24:27], 0 offen
  s_waitcnt vmcnt(0)
  put v6
  buffer_load_dword v4, v2, s[4:7], 0 offen
  buffer_load_dword v5, v2, s[4:7], 0 offen offset:256
  s_waitcnt vmcnt(0)
  ; atomics in the first words of out's last kilobyte
  v_and_b32 v8, 7, v0
  v_lshlrev_b32 v8, 2, v8
  s_movk_i32 s20, 0x4000
  v_mov_b32 v6, v4
  buffer_atomic_add v6, v8, s[8:11], s20 offen glc
  s_waitcnt vmcnt(0)
  put v6
  v_mov_b32 v6, v4
  buffer_atomic_smin v6, v8, s[8:11], s20 offen glc
  s_waitcnt vmcnt(0)
  put v6
  v_mov_b32 v6, v5
  buffer_atomic_umax v6, v8, s[8:11], s20 offen glc
  s_waitcnt vmcnt(0)
  put v6
  v_mov_b32 v6, v5
  v_mov_b32 v7, v4
  buffer_atomic_cmpswap v[6:7], v8, s[8:11], s20 offen glc
  s_waitcnt vmcnt(0)
  put v6
  v_mov_b32 v6, v9
  buffer_atomic_dec v6, v8, s[8:11], s20 offen
  buffer_atomic_sub v4, v8, s[8:11], s20 offen
  s_waitcnt vmcnt(0)
  put v6
  buffer_store_byte v5, v0, s[8:11], s20 offen offset:256
  buffer_store_short v5, v2, s[8:11], s20 offen offset:512
  s_endpgm
