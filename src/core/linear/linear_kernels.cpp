// Sums of weighted rows, kept in registers. A row is covered by vectors of N lanes; the last vector is moved
// back to end where the row ends. Where two vectors overlap, both compute the same sums.
#include "linear/linear_kernels.hpp"

#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

// W vectors of N lanes, the j-th at out + at[j].
template <int N, int W>
void add_columns(const WeightedRow* rows, std::int64_t n, const std::int64_t* at, float* out) {
    Vec<float, N> sums[W];
    for (int j = 0; j < W; ++j) sums[j] = load<N>(out + at[j]);
    for (std::int64_t i = 0; i < n; ++i) {
        for (int j = 0; j < W; ++j) sums[j] += rows[i].weight * load<N>(rows[i].row + at[j]);
    }
    for (int j = 0; j < W; ++j) store<N>(out + at[j], sums[j]);
}

template <int N>
void add_rows_by(const WeightedRow* rows, std::int64_t n, std::int64_t width, float* out) {
    // Overlapping vectors must be read before one of them is written, so they belong to one call.
    const std::int64_t n_vectors = (width + N - 1) / N;
    std::int64_t v = 0;
    for (; n_vectors - v > 4; v += 2) {
        const std::int64_t at[] = {v * N, (v + 1) * N};
        add_columns<N, 2>(rows, n, at, out);
    }
    std::int64_t at[4];
    for (std::int64_t j = 0; j < n_vectors - v; ++j) at[j] = (v + j) * N;
    at[n_vectors - v - 1] = width - N;
    switch (n_vectors - v) {
        case 1:
            return add_columns<N, 1>(rows, n, at, out);
        case 2:
            return add_columns<N, 2>(rows, n, at, out);
        case 3:
            return add_columns<N, 3>(rows, n, at, out);
        default:
            return add_columns<N, 4>(rows, n, at, out);
    }
}

void add_rows(const WeightedRow* rows, std::int64_t n, std::int64_t width, float* out) {
    constexpr int widest = kLanes<float>;
    if (width >= widest) return add_rows_by<widest>(rows, n, width, out);
    if constexpr (widest > 8) {
        if (width >= 8) return add_rows_by<8>(rows, n, width, out);
    }
    if constexpr (widest > 4) {
        if (width >= 4) return add_rows_by<4>(rows, n, width, out);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t y = 0; y < width; ++y) out[y] += rows[i].weight * rows[i].row[y];
    }
}

void add_cells(const LabelWeight* cells, std::int64_t n, float weight, float* out) {
    for (std::int64_t i = 0; i < n; ++i) out[cells[i].label] += weight * cells[i].weight;
}

}  // namespace

LinearKernels offer_linear() {
    return {add_rows, add_cells};
}

}  // namespace hedgerow::HEDGEROW_ISA
