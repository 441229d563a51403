// Work on long vectors, piece by piece: pieces have a fixed size, so that threads do not change a sum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "util/parallel.hpp"

namespace hedgerow {

class OrderedSum {
  public:
    OrderedSum(std::int64_t n, std::int64_t n_threads) : n_(n), n_threads_(n_threads) {}

    // work(begin, end, number of the piece)
    template <class Work>
    void for_each_block(Work work) const {
        parallel_for(count(), count() < 4 ? 1 : n_threads_, [&] {
            return [&](std::int64_t c) { work(c * kBlock, std::min(n_, (c + 1) * kBlock), c); };
        });
    }

    // The sum of what sum_of(begin, end) gives for each piece.
    template <class SumOf>
    double sum(SumOf sum_of) const {
        std::vector<double> parts(static_cast<std::size_t>(count()));
        for_each_block(
            [&](std::int64_t begin, std::int64_t end, std::int64_t c) { parts[c] = sum_of(begin, end); });
        double whole = 0;
        for (const double part : parts) whole += part;
        return whole;
    }

    template <class A, class B>
    double dot(const A* a, const B* b) const {
        return sum([&](std::int64_t begin, std::int64_t end) { return dot_of(a, b, begin, end); });
    }

    // Four sums side by side, which do not wait for each other.
    template <class A, class B>
    static double dot_of(const A* a, const B* b, std::int64_t begin, std::int64_t end) {
        double sum[4] = {};
        std::int64_t i = begin;
        for (; i + 4 <= end; i += 4) {
            for (int j = 0; j < 4; ++j)
                sum[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
        }
        for (; i < end; ++i) sum[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

  private:
    static constexpr std::int64_t kBlock = 1 << 14;
    std::int64_t count() const { return (n_ + kBlock - 1) / kBlock; }
    std::int64_t n_, n_threads_;
};

}  // namespace hedgerow
