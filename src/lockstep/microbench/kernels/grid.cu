// The barrier of a cooperative grid.
#include <cooperative_groups.h>

#include "common.cuh"

extern "C" __global__ void grid_sync(u64 *out, u32 *sink, Segments segments) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int s = 0; s < 3; s++) {
    grid.sync();
    u64 t0 = clocks();
    for (int i = 0; i < segments.n[s]; i++) grid.sync();
    u64 t1 = clocks();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      out[s * 2] = t0;
      out[s * 2 + 1] = t1;
    }
  }
}
