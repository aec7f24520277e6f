; out = in, pixel by pixel, through a sampler without interpolation.
;kernel:image_copy
;image:in:2D:RO:0:1:0
;image:out:2D:WO:0:1:32
;sampler:nearest:0:1:22
;reflection:0:image2d_t
;reflection:1:image2d_t
;user:17:0:2:2
;user:2:0:4:4
;user:1:0:8:4
;user:23:0:12:2
;groups:xy
;items:2
;vgprs:8
;sgprs:34
  s_buffer_load_dwordx2 s[0:1], s[4:7], 0x4      ; local size x, y
  s_load_dwordx8 s[16:23], s[2:3], 0x0           ; resource 0
  s_load_dwordx8 s[24:31], s[12:13], 0x0         ; UAV 0
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s0, s14, s0
  s_mul_i32 s1, s15, s1
  v_add_i32 v0, vcc, s0, v0
  v_add_i32 v1, vcc, s1, v1
  v_cvt_f32_u32 v2, v0
  v_cvt_f32_u32 v3, v1
  image_sample v[4:7], v[2:3], s[16:23], s[8:11] dmask:0xf unorm
  s_waitcnt vmcnt(0)
  image_store v[4:7], v[0:1], s[24:31] dmask:0xf unorm glc
  s_endpgm
