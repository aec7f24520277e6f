// The address of a parameter, in the place of another one's.
struct Row {
    int numbers[16];
};

extern "C" __global__ void chosen(const __grid_constant__ Row own, const Row *other, int *out)
{
    const Row *row = threadIdx.x & 1 ? &own : other;
    out[threadIdx.x] = row->numbers[threadIdx.x & 15];
}
