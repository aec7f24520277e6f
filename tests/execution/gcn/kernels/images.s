; Elements of images at four numbers an item: through a sampler whose words are an argument, or as they are.
; Filtered, or the nearest.
;kernel:sample
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample v[8:11], v[4:5], s[24:31], s[20:23] dmask:0xf
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; The same in three dimensions.
;kernel:sample_volume
;image:in:3D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image3d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample v[8:11], v[4:6], s[24:31], s[20:23] dmask:0xf
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; Coordinates count elements, whatever the sampler says.
;kernel:sample_plain
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample_lz v[8:11], v[4:5], s[24:31], s[20:23] dmask:0xf unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; Of a level, of which there is one; three channels.
;kernel:sample_level
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample_l v[8:10], v[4:6], s[24:31], s[20:23] dmask:0xb
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; So many elements further.
;kernel:sample_offset
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample_lz_o v[8:11], v[4:6], s[24:31], s[20:23] dmask:0xf
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; The second channel of four elements.
;kernel:gather
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_gather4 v[8:11], v[4:5], s[24:31], s[20:23] dmask:0x2
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; So many elements further.
;kernel:gather_offset
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_gather4_lz_o v[8:11], v[4:6], s[24:31], s[20:23] dmask:0x1
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; At whole coordinates, of a level.
;kernel:load_level
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_load_mip v[8:11], v[4:6], s[24:31] dmask:0xf unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; The same in three dimensions.
;kernel:load_volume_level
;image:in:3D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image3d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_load_mip v[8:11], v[4:7], s[24:31] dmask:0xf unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; So many elements further, of the level that derivatives say.
;kernel:sample_offset_implicit
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample_o v[8:11], v[4:6], s[24:31], s[20:23] dmask:0xf
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; So many elements further, of a level.
;kernel:sample_level_offset
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_sample_l_o v[8:11], v[4:7], s[24:31], s[20:23] dmask:0xf
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; Of the first level.
;kernel:gather_first
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_gather4_lz v[8:11], v[4:5], s[24:31], s[20:23] dmask:0x2
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; Of a level.
;kernel:gather_level
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_gather4_l v[8:11], v[4:6], s[24:31], s[20:23] dmask:0x2
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; So many elements further.
;kernel:gather_offset_implicit
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_gather4_o v[8:11], v[4:6], s[24:31], s[20:23] dmask:0x1
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; So many elements further, of a level.
;kernel:gather_level_offset
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_gather4_l_o v[8:11], v[4:7], s[24:31], s[20:23] dmask:0x1
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; At whole coordinates.
;kernel:load
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_load v[8:11], v[4:5], s[24:31] dmask:0xf unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; At whole coordinates; two channels.
;kernel:store
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_store v[5:6], v[4:5], s[24:31] dmask:0x5 unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; At whole coordinates, of a level; all channels.
;kernel:store_level
;image:in:2D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image2d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_store_mip v[4:7], v[4:6], s[24:31] dmask:0xf unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; Width, height, depth, levels.
;kernel:describe
;image:in:3D:RO:0:1:0
;pointer:at:float:1:1:32:uav:10:16:RO:0:0
;pointer:out:u32:1:1:48:uav:11:16:RW:0:0
;value:sampler:u32:4:1:64
;reflection:0:image3d_t
;reflection:1:float4*
;reflection:2:uint4*
;reflection:3:uint4
;user:17:0:2:2
;user:2:1:4:4
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; resource 0
  s_buffer_load_dwordx4 s[20:23], s[4:7], 0x10   ; the words of the sampler
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  image_get_resinfo v[8:11], v4, s[24:31] dmask:0xf
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[8:11], v1, s[12:15], 0 offen
  s_endpgm
; Every atomic operation of 32 bits.
;kernel:change
;image:cells:2D:WO:0:1:0
;pointer:in:u32:1:1:32:uav:10:4:RO:0:0
;pointer:out:u32:1:1:48:uav:11:4:RW:0:0
;reflection:0:image2d_t
;reflection:1:uint*
;reflection:2:uint*
;user:23:0:2:2
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
.macro change operation, register, mask
  v_mov_b32 v10, v6
  v_mov_b32 v11, v7
  v_mov_b32 v12, v8
  v_mov_b32 v13, v9
  \operation \register, v[4:5], s[24:31] dmask:\mask unorm glc
  s_waitcnt vmcnt(0)
  buffer_store_dwordx2 v[10:11], v1, s[12:15], 0 offen
  v_add_i32 v5, vcc, 1, v5
  v_add_i32 v1, vcc, 0x200, v1
.endm
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; UAV 0
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[6:9], v1, s[8:11], 0 offen
  v_lshlrev_b32 v1, 3, v0
  v_and_b32 v4, 7, v0                            ; eight cells a row, a row an operation
  v_mov_b32 v5, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  change image_atomic_swap, v10, 0x1
  change image_atomic_cmpswap, v[10:11], 0x3
  change image_atomic_add, v10, 0x1
  change image_atomic_sub, v10, 0x1
  change image_atomic_rsub, v10, 0x1
  change image_atomic_smin, v10, 0x1
  change image_atomic_umin, v10, 0x1
  change image_atomic_smax, v10, 0x1
  change image_atomic_umax, v10, 0x1
  change image_atomic_and, v10, 0x1
  change image_atomic_or, v10, 0x1
  change image_atomic_xor, v10, 0x1
  change image_atomic_inc, v10, 0x1
  change image_atomic_dec, v10, 0x1
  change image_atomic_fcmpswap, v[10:11], 0x3
  change image_atomic_fmin, v10, 0x1
  change image_atomic_fmax, v10, 0x1
  s_endpgm
; Every atomic operation of 64 bits.
;kernel:change_wide
;image:cells:2D:WO:0:1:0
;pointer:in:u32:1:1:32:uav:10:4:RO:0:0
;pointer:out:u32:1:1:48:uav:11:4:RW:0:0
;reflection:0:image2d_t
;reflection:1:uint*
;reflection:2:uint*
;user:23:0:2:2
;user:4:10:8:4
;user:4:11:12:4
;vgprs:16
;sgprs:34
.macro change operation, register, mask
  v_mov_b32 v10, v6
  v_mov_b32 v11, v7
  v_mov_b32 v12, v8
  v_mov_b32 v13, v9
  \operation \register, v[4:5], s[24:31] dmask:\mask unorm glc
  s_waitcnt vmcnt(0)
  buffer_store_dwordx2 v[10:11], v1, s[12:15], 0 offen
  v_add_i32 v5, vcc, 1, v5
  v_add_i32 v1, vcc, 0x200, v1
.endm
  s_load_dwordx8 s[24:31], s[2:3], 0x0           ; UAV 0
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[6:9], v1, s[8:11], 0 offen
  v_lshlrev_b32 v1, 3, v0
  v_and_b32 v4, 7, v0                            ; eight cells a row, a row an operation
  v_mov_b32 v5, 0
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  change image_atomic_swap, v[10:11], 0x3
  change image_atomic_cmpswap, v[10:13], 0xf
  change image_atomic_add, v[10:11], 0x3
  change image_atomic_sub, v[10:11], 0x3
  change image_atomic_rsub, v[10:11], 0x3
  change image_atomic_smin, v[10:11], 0x3
  change image_atomic_umin, v[10:11], 0x3
  change image_atomic_smax, v[10:11], 0x3
  change image_atomic_umax, v[10:11], 0x3
  change image_atomic_and, v[10:11], 0x3
  change image_atomic_or, v[10:11], 0x3
  change image_atomic_xor, v[10:11], 0x3
  change image_atomic_inc, v[10:11], 0x3
  change image_atomic_dec, v[10:11], 0x3
  change image_atomic_fcmpswap, v[10:13], 0xf
  change image_atomic_fmin, v[10:11], 0x3
  change image_atomic_fmax, v[10:11], 0x3
  s_endpgm
