#include "data/instance_bags.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "util/parallel.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTaskPositions = 4096;  // positions of one task of a thread

// IN: n values of a sequence, and the size u of bags. OUT: for each position t the sum over its bag,
//
//     sums_t = sum over s in bag(t) of values_s
//
// The sequence is cut into blocks of u positions. A bag is the end of one block and the beginning of the
// next, and both sums are running sums. The cost does not depend on u, nothing is subtracted, and sums of
// nonnegative values are nonnegative. back: the sequence is read from its end. from_begin: scratch memory.
void sum_bags(const double* values, std::int64_t n, std::int64_t u, bool back,
              std::vector<double>& from_begin, double* sums) {
    u = std::min(u, n);
    const auto place = [n, back](std::int64_t i) { return back ? n - 1 - i : i; };
    from_begin.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        from_begin[i] = (i % u == 0 ? 0.0 : from_begin[i - 1]) + values[place(i)];
    double to_end = 0;  // sum from position i to the end of its block
    for (std::int64_t i = n - 1; i >= 0; --i) {
        // The bag of i - 1 goes from i to `last`.
        to_end = (i % u == u - 1 ? 0.0 : to_end) + values[place(i)];
        const std::int64_t last = std::min(i + u - 1, n - 1);
        if (i > 0) sums[place(i - 1)] = to_end + (last / u > i / u ? from_begin[last] : 0.0);
    }
    if (n > 0) sums[place(n - 1)] = 0;
}

// log(1 + exp x), for any x.
double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

// IN: scores G of a sequence. OUT: p and rest = 1 - p of each bag, both to full precision. terms and
// from_begin: scratch memory.
void noisy_or_sequence(const double* scores, std::int64_t n, std::int64_t u, bool back,
                       std::vector<double>& terms, std::vector<double>& from_begin, double* p, double* rest) {
    terms.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) terms[i] = softplus(scores[i]);
    sum_bags(terms.data(), n, u, back, from_begin, p);
    for (std::int64_t i = 0; i < n; ++i) {
        rest[i] = std::exp(-p[i]);
        p[i] = -std::expm1(-p[i]);
    }
}

// Calls visit(begin, length) for each sequence, on threads; make() makes the visit of one thread.
template <class Make>
void for_each_sequence(const InstanceBags& bags, std::int64_t n_threads, Make make) {
    const std::vector<std::int64_t> cuts = chunks(bags.starts, bags.n_sequences, kTaskPositions);
    parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, n_threads, [&] {
        return [&, visit = make()](std::int64_t task) mutable {
            for (std::int64_t i = cuts[task]; i < cuts[task + 1]; ++i)
                visit(bags.starts[i], bags.starts[i + 1] - bags.starts[i]);
        };
    });
}

}  // namespace

void sum_over_bags(const InstanceBags& bags, const double* values, double* sums, std::int64_t n_threads) {
    for_each_sequence(bags, n_threads, [&] {
        return [&, from_begin = std::vector<double>()](std::int64_t begin, std::int64_t n) mutable {
            sum_bags(values + begin, n, bags.size, bags.back, from_begin, sums + begin);
        };
    });
}

void noisy_or(const InstanceBags& bags, const double* scores, double* p, double* rest,
              std::int64_t n_threads) {
    for_each_sequence(bags, n_threads, [&] {
        return [&, terms = std::vector<double>(), from_begin = std::vector<double>()](
                   std::int64_t begin, std::int64_t n) mutable {
            noisy_or_sequence(scores + begin, n, bags.size, bags.back, terms, from_begin, p + begin,
                              rest + begin);
        };
    });
}

}  // namespace hedgerow
