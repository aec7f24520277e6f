#include "../program.cuh"
#include "transpose_coalesced.cu"

int main(int argc, char **argv) {
    int columns = size_argument(argc, argv, 300), rows = columns / 2 + 1;
    Random random;
    std::vector<float> matrix = random.reals(rows * columns), expected(rows * columns);
    DeviceArray<float> in(matrix), out(rows * columns);
    dim3 block(TILE, ROWS), grid(blocks(columns, TILE), blocks(rows, TILE));
    transpose_coalesced<<<grid, block>>>(rows, columns, in, out);
    for (int i = 0; i < rows * columns; i++) {
        expected[i % columns * rows + i / columns] = matrix[i];
    }
    expect("out", out.download(), expected);
    return finish();
}
