#include "search/search_kernels.hpp"

#include <cmath>
#include <limits>

#include "lattice/selection.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

// A row is covered by vectors of N lanes; the last vector is moved back to end where the row ends. Where two
// vectors overlap, both compute the same.
template <int N>
void expand_dense(float score, const RowView* rows, std::int64_t n_rows, std::int64_t k, bool raise,
                  float* out) {
    for (std::int64_t first = 0; first < k; first += N) {
        const std::int64_t at = first + N <= k ? first : k - N;
        Vec<float, N> sum = fill<float, N>(score);
        for (std::int64_t i = 0; i < n_rows; ++i) sum += load<N>(rows[i].dense + at);
        store<N>(out + at, raise ? larger<float, N>(load<N>(out + at), sum) : sum);
    }
}

// Adds in the order of the rows, so that sums round as if all rows were dense.
template <int N>
void expand_by(float score, const RowView* rows, std::int64_t n_rows, std::int64_t k, bool raise, float* out,
               float* work) {
    std::int64_t n_dense = 1;
    while (n_dense < n_rows && rows[n_dense].dense) ++n_dense;
    if (n_dense == n_rows) return expand_dense<N>(score, rows, n_rows, k, raise, out);
    float* sums = raise ? work : out;
    expand_dense<N>(score, rows, n_dense, k, false, sums);
    for (std::int64_t i = n_dense; i < n_rows; ++i) {
        const RowView& row = rows[i];
        for (std::int64_t y = 0; row.dense && y < k; ++y) sums[y] += row.dense[y];
        for (std::int64_t c = 0; !row.dense && c < row.n; ++c)
            sums[row.cells[c].label] += row.cells[c].weight;
    }
    for (std::int64_t y = 0; raise && y < k; ++y) out[y] = out[y] >= sums[y] ? out[y] : sums[y];
}

void expand(float score, const RowView* rows, std::int64_t n_rows, std::int64_t k, bool raise, float* out,
            float* work) {
    constexpr int widest = kLanes<float>;
    if (k >= widest) return expand_by<widest>(score, rows, n_rows, k, raise, out, work);
    if constexpr (widest > 8) {
        if (k >= 8) return expand_dense<8>(score, rows, n_rows, k, raise, out);
    }
    if constexpr (widest > 4) {
        if (k >= 4) return expand_dense<4>(score, rows, n_rows, k, raise, out);
    }
    for (std::int64_t y = 0; y < k; ++y) {
        float sum = score;
        for (std::int64_t i = 0; i < n_rows; ++i) sum += rows[i].dense[y];
        out[y] = raise && out[y] >= sum ? out[y] : sum;
    }
}

// ranks[i] <- the number of the first n scores of the block that come before score i: higher scores, and
// equal scores with a lower index.
void rank(const float* block, std::int32_t n, std::int32_t* ranks) {
    for (std::int64_t i = 0; i < kScoreBlock; ++i) ranks[i] = 0;
    for (std::int32_t j = 0; j < n; ++j) {
        const float value = block[j];
#pragma omp simd
        for (std::int32_t i = 0; i < kScoreBlock; ++i)
            ranks[i] += (value > block[i]) | ((value == block[i]) & (j < i));
    }
}

// A lower bound that at least `most` scores reach, and few others: the scores are arranged in kScoreBlock
// columns; the bound is the `most`-th highest of the maxima of the columns.
float bound(const float* scores, std::int64_t n, std::int64_t most) {
    constexpr int N = kLanes<float>;
    float columns[kScoreBlock];
    for (std::int64_t c = 0; c < kScoreBlock; c += N) {
        Vec<float, N> top = load<N>(scores + c);
        for (std::int64_t i = kScoreBlock + c; i < n; i += kScoreBlock)
            top = larger<float, N>(top, load<N>(scores + i));
        store<N>(columns + c, top);
    }
    std::int32_t ranks[kScoreBlock];
    rank(columns, kScoreBlock, ranks);
    float least = INFINITY;
#pragma omp simd reduction(min : least)
    for (std::int64_t c = 0; c < kScoreBlock; ++c)
        least = ranks[c] < most && columns[c] < least ? columns[c] : least;
    return least;
}

float half_way(float low, float high) {
    return low / 2 + high / 2;
}

float bound_of_many(const float* scores, std::int64_t n, std::int64_t most) {
    constexpr float lowest = std::numeric_limits<float>::lowest();
    if (count_from(scores, n, lowest) <= most) return lowest;
    return cut(scores, n, most, lowest, half_way).perhaps;
}

// Collects the `most` highest of some scores that come in the order of their indices.
class Highest {
  public:
    Highest(std::int64_t most, Choice* out) : most_(most), out_(out) {}

    void add(float value, std::int64_t at) {
        if (n_waiting_ == kScoreBlock) insert_waiting();
        waiting_[n_waiting_] = value;
        at_[n_waiting_++] = at;
    }
    std::int64_t finish() {
        if (count_ > 0) {
            insert_waiting();
            return count_;
        }
        std::int32_t ranks[kScoreBlock];
        rank(waiting_, static_cast<std::int32_t>(n_waiting_), ranks);
        for (std::int64_t i = 0; i < n_waiting_; ++i)
            if (ranks[i] < most_) out_[ranks[i]] = {waiting_[i], at_[i]};
        return n_waiting_ < most_ ? n_waiting_ : most_;
    }

  private:
    // Inserts the waiting scores into the sorted output; used if there are too many to rank at once.
    void insert_waiting() {
        for (std::int64_t i = 0; i < n_waiting_; ++i) {
            if (count_ == most_ && !(waiting_[i] > out_[count_ - 1].value)) continue;
            std::int64_t place = count_ < most_ ? count_++ : count_ - 1;
            for (; place > 0 && waiting_[i] > out_[place - 1].value; --place) out_[place] = out_[place - 1];
            out_[place] = {waiting_[i], at_[i]};
        }
        n_waiting_ = 0;
    }

    std::int64_t most_;
    Choice* out_;
    float waiting_[kScoreBlock] = {};
    std::int64_t at_[kScoreBlock];
    std::int64_t n_waiting_ = 0, count_ = 0;
};

std::int64_t highest(const float* scores, std::int64_t n, std::int64_t most, Choice* out) {
    constexpr int N = kLanes<float>;
    constexpr float lowest = std::numeric_limits<float>::lowest();
    const float reached = most <= kScoreBlock ? bound(scores, n, most) : bound_of_many(scores, n, most);
    const Vec<float, N> least = fill<float, N>(reached > lowest ? reached : lowest);
    Highest found(most, out);
    for (std::int64_t first = 0; first < n; first += N) {
        std::uint32_t in = lanes_from<float, N>(load<N>(scores + first), least);
        for (; in != 0; in &= in - 1) {
            const std::int64_t at = first + std::countr_zero(in);
            found.add(scores[at], at);
        }
    }
    return found.finish();
}

}  // namespace

SearchKernels offer_search() {
    return {expand, highest};
}

}  // namespace hedgerow::HEDGEROW_ISA
