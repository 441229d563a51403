// Sums over long vectors on several threads. Blocks have a fixed size and are added in order, so the number
// of threads does not change a result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "util/parallel.hpp"

namespace hedgerow {

class OrderedSum {
  public:
    OrderedSum(std::int64_t n, std::int64_t n_threads) : n_(n), n_threads_(n_threads) {}

    // Calls work(begin, end, c) for each block c, on threads.
    template <class Work>
    void for_each_block(Work work) const {
        parallel_for(count(), count() < 4 ? 1 : n_threads_, [&] {
            return [&](std::int64_t c) { work(c * kBlock, std::min(n_, (c + 1) * kBlock), c); };
        });
    }

    // sum over blocks of sum_of(begin, end)
    template <class SumOf>
    double sum(SumOf sum_of) const {
        std::vector<double> block_sums(static_cast<std::size_t>(count()));
        for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t c) {
            block_sums[c] = sum_of(begin, end);
        });
        double total = 0;
        for (const double block_sum : block_sums) total += block_sum;
        return total;
    }

    // sum of a_i b_i
    template <class A, class B>
    double dot(const A* a, const B* b) const {
        return sum([&](std::int64_t begin, std::int64_t end) { return dot_of(a, b, begin, end); });
    }

    // The same over [begin, end): four interleaved sums, so that additions overlap.
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
