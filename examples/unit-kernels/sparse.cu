// Matrices by rows (CRS), of values or of small blocks, and colours of graphs.

#include "parallel.cuh"

struct Crs {
    int rows;
    int *map, *entries;  // row i: entries map[i] to map[i + 1], columns sorted
    double *values;
};

// map[0] = 0, map[i + 1] = map[i] + counts[i], by one block.
struct Scan {
    const int *counts;
    int *map;
    int rows;
    __device__ void operator()(const Team &team) const {
        __shared__ int sums[256];
        int carried = 0;
        for (int first = 0; first < rows; first += team.size()) {
            int i = first + team.rank();
            sums[team.rank()] = i < rows ? counts[i] : 0;
            for (int step = 1; step < team.size(); step *= 2) {
                team.barrier();
                int other = team.rank() >= step ? sums[team.rank() - step] : 0;
                team.barrier();
                sums[team.rank()] += other;
            }
            team.barrier();
            if (i < rows) {
                map[i + 1] = carried + sums[team.rank()];
            }
            carried += sums[team.size() - 1];
            team.barrier();
        }
        if (team.rank() == 0) {
            map[0] = 0;
        }
    }
};
KERNEL(sparse_scan, TeamFor<Scan>)

// C = A B: a warp for each row; the columns of a row are bits in scratch.
struct SpgemmSymbolic {
    Crs a, b;
    int columns;
    int *counts;
    __device__ void operator()(const Team &team) const {
        extern __shared__ unsigned marks[];
        int row = team.league(), words = (columns + 31) / 32, count = 0;
        for (int w = team.rank(); w < words; w += team.size()) {
            marks[w] = 0;
        }
        team.barrier();
        for (int k = a.map[row] + team.rank(); k < a.map[row + 1]; k += team.size()) {
            int middle = a.entries[k];
            for (int l = b.map[middle]; l < b.map[middle + 1]; l++) {
                atomicOr(&marks[b.entries[l] / 32], 1u << b.entries[l] % 32);
            }
        }
        team.barrier();
        for (int w = team.rank(); w < words; w += team.size()) {
            count += __popc(marks[w]);
        }
        count = __reduce_add_sync(0xffffffff, count);
        if (team.rank() == 0) {
            counts[row] = count;
        }
    }
};
struct SpgemmNumeric {
    Crs a, b, c;
    int columns;
    __device__ void operator()(const Team &team) const {
        extern __shared__ double sums[];
        unsigned *marks = (unsigned *)(sums + columns);
        int row = team.league();
        for (int j = team.rank(); j < columns; j += team.size()) {
            sums[j] = 0.0;
        }
        for (int w = team.rank(); w < (columns + 31) / 32; w += team.size()) {
            marks[w] = 0;
        }
        team.barrier();
        for (int k = a.map[row] + team.rank(); k < a.map[row + 1]; k += team.size()) {
            int middle = a.entries[k];
            for (int l = b.map[middle]; l < b.map[middle + 1]; l++) {
                int j = b.entries[l];
                atomicOr(&marks[j / 32], 1u << j % 32);
                atomicAdd(&sums[j], a.values[k] * b.values[l]);
            }
        }
        team.barrier();
        int place = c.map[row];
        for (int first = 0; first < columns; first += 32) {
            int j = first + team.rank();
            bool has = j < columns && (marks[j / 32] >> j % 32 & 1);
            unsigned all = __ballot_sync(0xffffffff, has);
            if (has) {
                int mine = place + __popc(all & ((1u << team.rank()) - 1));
                c.entries[mine] = j;
                c.values[mine] = sums[j];
            }
            place += __popc(all);
        }
    }
};
KERNEL(sparse_spgemm_symbolic, TeamFor<SpgemmSymbolic>)
KERNEL(sparse_spgemm_numeric, TeamFor<SpgemmNumeric>)

// Calls body(column, value) for each column of alpha A + beta B of a row.
template <class Body>
__device__ void merge(const Crs &a, const Crs &b, double alpha, double beta, int row, Body body) {
    int k = a.map[row], l = b.map[row];
    while (k < a.map[row + 1] || l < b.map[row + 1]) {
        int left = k < a.map[row + 1] ? a.entries[k] : 0x7fffffff;
        int right = l < b.map[row + 1] ? b.entries[l] : 0x7fffffff;
        double value = 0.0;
        if (left <= right) {
            value += alpha * a.values[k++];
        }
        if (right <= left) {
            value += beta * b.values[l++];
        }
        body(left < right ? left : right, value);
    }
}
struct SpaddSymbolic {
    Crs a, b;
    int *counts;
    __device__ void operator()(int row) const {
        int count = 0;
        merge(a, b, 1.0, 1.0, row, [&](int, double) { count++; });
        counts[row] = count;
    }
};
struct SpaddNumeric {
    Crs a, b, c;
    double alpha, beta;
    __device__ void operator()(int row) const {
        int place = c.map[row];
        merge(a, b, alpha, beta, row, [&](int column, double value) {
            c.entries[place] = column;
            c.values[place++] = value;
        });
    }
};
KERNEL(sparse_spadd_symbolic, ParallelFor<SpaddSymbolic>)
KERNEL(sparse_spadd_numeric, ParallelFor<SpaddNumeric>)

// One sweep over the rows of a colour, which do not depend on each other.
struct GaussSeidel {
    Crs a;
    const int *rows;
    const double *b;
    double *x;
    __device__ void operator()(int k) const {
        int i = rows[k];
        double rest = b[i], diagonal = 1.0;
        for (int l = a.map[i]; l < a.map[i + 1]; l++) {
            int j = a.entries[l];
            if (j == i) {
                diagonal = a.values[l];
            } else {
                rest -= a.values[l] * x[j];
            }
        }
        x[i] = rest / diagonal;
    }
};
KERNEL(sparse_gauss_seidel_sweep, ParallelFor<GaussSeidel>)

const int EDGE = 3;  // of a block; the values of block l are values[l * EDGE * EDGE ...]

struct BlockGaussSeidel {
    Crs a;
    const int *rows;
    const double *b;
    double *x;
    __device__ void operator()(int k) const {
        int i = rows[k];
        double rest[EDGE], d[EDGE][EDGE];
        for (int r = 0; r < EDGE; r++) {
            rest[r] = b[i * EDGE + r];
        }
        for (int l = a.map[i]; l < a.map[i + 1]; l++) {
            int j = a.entries[l];
            for (int r = 0; r < EDGE; r++) {
                for (int s = 0; s < EDGE; s++) {
                    double value = a.values[(l * EDGE + r) * EDGE + s];
                    if (j == i) {
                        d[r][s] = value;
                    } else {
                        rest[r] -= value * x[j * EDGE + s];
                    }
                }
            }
        }
        for (int p = 0; p < EDGE; p++) {  // elimination: diagonal blocks dominate
            for (int r = p + 1; r < EDGE; r++) {
                double factor = d[r][p] / d[p][p];
                for (int s = p; s < EDGE; s++) {
                    d[r][s] -= factor * d[p][s];
                }
                rest[r] -= factor * rest[p];
            }
        }
        for (int r = EDGE - 1; r >= 0; r--) {
            for (int s = r + 1; s < EDGE; s++) {
                rest[r] -= d[r][s] * x[i * EDGE + s];
            }
            x[i * EDGE + r] = rest[r] / d[r][r];
        }
    }
};
KERNEL(sparse_block_gauss_seidel_sweep, ParallelFor<BlockGaussSeidel>)

// A matrix from triples in any order: lengths of rows, a scan, then each triple takes a place.
struct Triples {
    const int *row, *column;
    const double *value;
};
struct CountTriples {
    Triples triples;
    int *counts;
    __device__ void operator()(int k) const { atomicAdd(&counts[triples.row[k]], 1); }
};
struct PlaceTriples {
    Triples triples;
    Crs a;
    int *taken;  // of each row
    __device__ void operator()(int k) const {
        int row = triples.row[k], place = a.map[row] + atomicAdd(&taken[row], 1);
        a.entries[place] = triples.column[k];
        a.values[place] = triples.value[k];
    }
};
struct SortRows {
    Crs a;
    __device__ void operator()(int row) const {
        for (int k = a.map[row] + 1; k < a.map[row + 1]; k++) {
            int column = a.entries[k], l = k;
            double value = a.values[k];
            for (; l > a.map[row] && a.entries[l - 1] > column; l--) {
                a.entries[l] = a.entries[l - 1];
                a.values[l] = a.values[l - 1];
            }
            a.entries[l] = column;
            a.values[l] = value;
        }
    }
};
struct Spmv {  // a warp for each row
    Crs a;
    const double *x;
    double *y;
    __device__ void operator()(const Team &team) const {
        int row = team.league();
        double value = 0.0;
        for (int k = a.map[row] + team.rank(); k < a.map[row + 1]; k += 32) {
            value += a.values[k] * x[a.entries[k]];
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            value += __shfl_xor_sync(0xffffffff, value, offset);
        }
        if (team.rank() == 0) {
            y[row] = value;
        }
    }
};
KERNEL(sparse_crsmatrix_count, ParallelFor<CountTriples>)
KERNEL(sparse_crsmatrix_place, ParallelFor<PlaceTriples>)
KERNEL(sparse_crsmatrix_sort, ParallelFor<SortRows>)
KERNEL(sparse_crsmatrix_multiply, TeamFor<Spmv>)

struct BlockSpmv {  // a thread for each row of blocks
    Crs a;
    const double *x;
    double *y;
    __device__ void operator()(int i) const {
        double sums[EDGE] = {};
        for (int l = a.map[i]; l < a.map[i + 1]; l++) {
            for (int r = 0; r < EDGE; r++) {
                for (int s = 0; s < EDGE; s++) {
                    sums[r] += a.values[(l * EDGE + r) * EDGE + s] * x[a.entries[l] * EDGE + s];
                }
            }
        }
        for (int r = 0; r < EDGE; r++) {
            y[i * EDGE + r] = sums[r];
        }
    }
};
struct Unblock {  // the same matrix by rows of values; `map` of it is known
    Crs a, plain;
    __device__ void operator()(int i) const {
        int r = i % EDGE, place = plain.map[i];
        for (int l = a.map[i / EDGE]; l < a.map[i / EDGE + 1]; l++) {
            for (int s = 0; s < EDGE; s++) {
                plain.entries[place] = a.entries[l] * EDGE + s;
                plain.values[place++] = a.values[(l * EDGE + r) * EDGE + s];
            }
        }
    }
};
KERNEL(sparse_blkcrsmatrix_multiply, ParallelFor<BlockSpmv>)
KERNEL(sparse_blkcrsmatrix_unblock, ParallelFor<Unblock>)

enum Change { REPLACE, SUM_INTO };

// New values of some columns of each row, in any order; columns that a row lacks change nothing.
struct Changes {
    View2<int> columns;
    View2<double> values;
};
struct ReplaceSumInto {  // a thread for each row: looks on from where the last column was
    Crs a;
    Changes changes;
    int change;
    __device__ void operator()(int row) const {
        int first = a.map[row], length = a.map[row + 1] - first, hint = 0;
        for (int n = 0; n < changes.columns.n1; n++) {
            for (int step = 0; step < length; step++) {
                int place = first + (hint + step) % length;
                if (a.entries[place] == changes.columns(row, n)) {
                    double value = changes.values(row, n);
                    a.values[place] = change == REPLACE ? value : a.values[place] + value;
                    hint = place - first + 1;
                    break;
                }
            }
        }
    }
};
struct ReplaceSumIntoLonger {  // a team for each row: halves the sorted row, with atomics
    Crs a;
    Changes changes;
    int change;
    __device__ void operator()(const Team &team) const {
        int row = team.league();
        for (int n = team.rank(); n < changes.columns.n1; n += team.size()) {
            int low = a.map[row], high = a.map[row + 1], column = changes.columns(row, n);
            while (low < high) {
                int middle = (low + high) / 2;
                if (a.entries[middle] < column) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < a.map[row + 1] && a.entries[low] == column) {
                if (change == SUM_INTO) {
                    atomicAdd(&a.values[low], changes.values(row, n));
                } else {
                    atomicExch((unsigned long long *)&a.values[low],
                               __double_as_longlong(changes.values(row, n)));
                }
            }
        }
    }
};
KERNEL(sparse_replaceSumInto_change, ParallelFor<ReplaceSumInto>)
KERNEL(sparse_replaceSumIntoLonger_change, TeamFor<ReplaceSumIntoLonger>)

// Colours from 1, the lowest that no neighbour has. Neighbours that took one at the same time are
// found afterwards, and the higher of the two is on the list of the next round.
template <int DISTANCE, class Body>
__device__ void neighbours(const Crs &graph, int v, Body body) {
    for (int k = graph.map[v]; k < graph.map[v + 1]; k++) {
        int u = graph.entries[k];
        body(u);
        for (int l = graph.map[u]; DISTANCE == 2 && l < graph.map[u + 1]; l++) {
            body(graph.entries[l]);
        }
    }
}
template <int DISTANCE> struct Colour {
    Crs graph;
    const int *list;
    volatile int *colours;
    __device__ void operator()(int n) const {
        int v = list[n];
        for (int base = 1;; base += 64) {
            unsigned long long taken = 0;
            neighbours<DISTANCE>(graph, v, [&](int u) {
                int above = colours[u] - base;
                if (u != v && above >= 0 && above < 64) {
                    taken |= 1ull << above;
                }
            });
            if (~taken) {
                colours[v] = base + __ffsll(~taken) - 1;
                return;
            }
        }
    }
};
template <int DISTANCE> struct FindConflicts {
    Crs graph;
    const int *list;
    int *colours, *next, *count;
    __device__ void operator()(int n) const {
        int v = list[n];
        bool is_wrong = false;
        neighbours<DISTANCE>(graph, v, [&](int u) {
            is_wrong |= u < v && colours[u] == colours[v];
        });
        if (is_wrong) {
            next[atomicAdd(count, 1)] = v;
        }
    }
};
KERNEL(sparse_graph_color_assign, ParallelFor<Colour<1>>)
KERNEL(sparse_graph_color_conflicts, ParallelFor<FindConflicts<1>>)
KERNEL(sparse_graph_color_d2_assign, ParallelFor<Colour<2>>)
KERNEL(sparse_graph_color_d2_conflicts, ParallelFor<FindConflicts<2>>)
