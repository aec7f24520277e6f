#include "../program.cuh"
#include "hash_table.cu"

#include <map>

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 10000);
    unsigned slots = 1;
    while (slots < 2u * n) {
        slots *= 2;
    }
    Random random;
    std::vector<unsigned> keys(n), wanted(n);
    std::vector<int> values = random.integers(n, 0, 100), expected(n);
    std::map<unsigned, int> known;
    for (int i = 0; i < n; i++) {
        keys[i] = random.integer(0, 2 * n) * 40503u;
        wanted[i] = random.integer(0, 2 * n) * 40503u;
        known[keys[i]] += values[i];
    }
    DeviceArray<unsigned> device_keys(keys), device_wanted(wanted);
    DeviceArray<unsigned> table(std::vector<unsigned>(slots, EMPTY));
    DeviceArray<int> device_values(values), sums(std::vector<int>(slots, 0)), found(n);
    int grid = blocks(n, 128);
    hash_table<<<grid, 128>>>(n, slots - 1, device_keys, device_values, table, sums);
    hash_table_find<<<grid, 128>>>(n, slots - 1, device_wanted, table, sums, found);
    for (int i = 0; i < n; i++) {
        auto entry = known.find(wanted[i]);
        expected[i] = entry == known.end() ? -1 : entry->second;
    }
    expect("found", found.download(), expected);
    return finish();
}
