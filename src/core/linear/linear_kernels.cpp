// Sums of weighted rows, kept in registers. A row is covered by vectors of N lanes; the last vector is moved
// back to end where the row ends. Where two vectors overlap, both compute the same sums.
#include "linear/linear_kernels.hpp"

#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

// N numbers of a row, from `at` on.
template <int N>
Vec<float, N> numbers(const WeightedRow& row, std::int64_t at) {
    return row.weight * load<N>(row.row + at);
}
template <int N>
Vec<std::int32_t, N> numbers(const std::int32_t* row, std::int64_t at) {
    return load<N>(row + at);
}

// W vectors of N lanes, the j-th at out + at[j].
template <int N, int W, class Row, class Number>
void add_columns(const Row* rows, std::int64_t n, const std::int64_t* at, Number* out) {
    Vec<Number, N> sums[W];
    for (int j = 0; j < W; ++j) sums[j] = load<N>(out + at[j]);
    for (std::int64_t i = 0; i < n; ++i) {
        for (int j = 0; j < W; ++j) sums[j] += numbers<N>(rows[i], at[j]);
    }
    for (int j = 0; j < W; ++j) store<N>(out + at[j], sums[j]);
}

template <int N, class Row, class Number>
void add_rows_by(const Row* rows, std::int64_t n, std::int64_t width, Number* out) {
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

// Rows that are narrower than the narrowest vector.
void add_narrow_row(const WeightedRow& row, std::int64_t width, float* out) {
    for (std::int64_t y = 0; y < width; ++y) out[y] += row.weight * row.row[y];
}
void add_narrow_row(const std::int32_t* row, std::int64_t width, std::int32_t* out) {
    for (std::int64_t y = 0; y < width; ++y) out[y] += row[y];
}

template <class Row, class Number>
void add_rows(const Row* rows, std::int64_t n, std::int64_t width, Number* out) {
    constexpr int widest = kLanes<Number>;
    if (width >= widest) return add_rows_by<widest>(rows, n, width, out);
    if constexpr (widest > 8) {
        if (width >= 8) return add_rows_by<8>(rows, n, width, out);
    }
    if constexpr (widest > 4) {
        if (width >= 4) return add_rows_by<4>(rows, n, width, out);
    }
    for (std::int64_t i = 0; i < n; ++i) add_narrow_row(rows[i], width, out);
}

// A product has at most 26 + 24 bits, so it is exact before it is rounded.
void add_valued_rows(const ValuedRow* rows, std::int64_t n, std::int64_t width, double rounder, double* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t* row = rows[i].row;
        const double value = rows[i].value;
        for (std::int64_t y = 0; y < width; ++y)
            out[y] += (static_cast<double>(row[y]) * value + rounder) - rounder;
    }
}

// Half a unit is rounded away from 0. Sums of floats would not do: from 2^23 on they have no halves.
void round_row(const float* from, std::int64_t n, float factor, std::int32_t* to) {
    for (std::int64_t y = 0; y < n; ++y) {
        const float exact = from[y] * factor;
        const auto whole = static_cast<std::int32_t>(exact);
        const float rest = exact - static_cast<float>(whole);
        to[y] = whole + (rest >= 0.5f) - (rest <= -0.5f);
    }
}

void add_cells(const LabelWeight* cells, std::int64_t n, float weight, float* out) {
    for (std::int64_t i = 0; i < n; ++i) out[cells[i].label] += weight * cells[i].weight;
}

}  // namespace

LinearKernels offer_linear() {
    return {add_rows<WeightedRow, float>, add_cells, add_rows<const std::int32_t*, std::int32_t>,
            add_valued_rows, round_row};
}

}  // namespace hedgerow::HEDGEROW_ISA
