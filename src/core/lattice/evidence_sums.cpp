#include "lattice/evidence_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "util/numeric.hpp"

namespace hedgerow {
namespace {

// Replaces n numbers that are not above 0 by their exponentials.
void exponentiate(double* x, std::int64_t n) {
    using namespace HEDGEROW_ISA;
    constexpr int pair = 2;  // the width that every processor has
    std::int64_t i = 0;
    for (; i + pair <= n; i += pair) store<pair>(x + i, exponential<double, pair>(load<pair>(x + i)));
    for (; i < n; ++i) store<1>(x + i, exponential<double, 1>(load<1>(x + i)));
}

// Replaces n columns of m numbers, the columns `stride` apart and their numbers `step` apart, by their shares
// of the sum of their exponentials. OUT: to[j] = log of that sum of column j. A column of minus infinities
// has shares of 0.
void log_shares(double* x, std::int64_t n, std::int64_t stride, std::int64_t m, std::int64_t step,
                double* to) {
    for (std::int64_t j = 0; j < n; ++j) {
        double* column = x + j * stride;
        to[j] = kMinusInfinity;
        for (std::int64_t i = 0; i < m; ++i) to[j] = std::max(to[j], column[i * step]);
        if (to[j] == kMinusInfinity) continue;
        for (std::int64_t i = 0; i < m; ++i) column[i * step] -= to[j];
    }
    exponentiate(x, n * m);
    for (std::int64_t j = 0; j < n; ++j) {
        if (to[j] == kMinusInfinity) continue;
        double* column = x + j * stride;
        double sum = 0;
        for (std::int64_t i = 0; i < m; ++i) sum += column[i * step];
        const double factor = 1 / sum;
        for (std::int64_t i = 0; i < m; ++i) column[i * step] *= factor;
        to[j] += std::log(sum);
    }
}

// Processes the sequences of one thread: sweeps on for the evidence before, then back for the evidence after,
// writing what it finds on the way. Pairs of labels are numbered previous label * K + label.
template <class Real>
class EvidenceWorker {
  public:
    EvidenceWorker(const LatticeBatch<Real>& batch, const std::int32_t* gold, const EvidenceSums& out)
        : batch_(batch), gold_(gold), out_(out), k_(batch.n_labels()) {
        const auto k = static_cast<std::size_t>(k_);
        for (auto* by_pair : {&of_previous_, &of_label_}) by_pair->resize(k * k);
        for (auto* by_label : {&after_, &p_, &p_before_}) by_label->resize(k);
    }

    void operator()(std::int64_t i) {
        const std::int64_t length = batch_.length(i);
        const std::int32_t* labels = gold_ + batch_.first(i);
        float* to = out_.marginals + batch_.first(i) * k_ * k_;
        scores_ = batch_.scores(i);
        before_.assign(static_cast<std::size_t>(length * k_), 0.0);
        add_scores(0, 0, before(0));
        for (std::int64_t t = 1; t < length; ++t) {
            read(t, before(t - 1), of_previous_);
            log_shares(of_previous_.data(), k_, 1, k_, k_, before(t));
        }
        std::fill(after_.begin(), after_.end(), 0.0);
        double log_likelihood = normalise(before(length - 1), labels[length - 1], p_);
        for (std::int64_t t = length - 1; t > 0; --t) {
            share_previous(t);
            read(t, nullptr, of_label_);
            log_shares(of_label_.data(), k_, k_, k_, 1, after_.data());
            log_likelihood += normalise(before(t - 1), labels[t - 1], p_before_);
            write(labels[t - 1], labels[t], to + t * k_ * k_);
            std::swap(p_, p_before_);
        }
        std::fill_n(to, k_ * k_, 0.0f);
        for (std::int64_t v = 0; v < k_; ++v) to[v] = static_cast<float>(p_[v]);
        out_.log_likelihood[i] = log_likelihood;
    }

  private:
    // The logarithm of before_t, by label.
    double* before(std::int64_t t) { return before_.data() + t * k_; }

    // to[v] += E_t(u, v)
    void add_scores(std::int64_t t, std::int64_t u, double* to) const {
        const auto add = [&](const Real* row) {
            for (std::int64_t v = 0; v < k_; ++v) to[v] += row[v];
        };
        if (scores_.edge) add(scores_.edge + (t * k_ + u) * k_);
        if (scores_.table) add(scores_.table + (t > 0 ? 1 + u : 0) * k_);
        if (scores_.state) add(scores_.state + t * k_);
    }

    // to[u, v] = E_t(u, v) + before[u]; without `before`, + after_[v].
    void read(std::int64_t t, const double* before, std::vector<double>& to) const {
        for (std::int64_t u = 0; u < k_; ++u) {
            double* row = to.data() + u * k_;
            for (std::int64_t v = 0; v < k_; ++v) row[v] = before ? before[u] : after_[v];
            add_scores(t, u, row);
        }
    }

    // of_previous_ = Q(u | v) at t: the shares of the sum before_t.
    void share_previous(std::int64_t t) {
        read(t, before(t - 1), of_previous_);
        for (std::int64_t u = 0; u < k_; ++u) {
            for (std::int64_t v = 0; v < k_; ++v) {
                double& x = of_previous_[u * k_ + v];
                if (x > kMinusInfinity) x = std::min(x - before(t)[v], 0.0);
            }
        }
        exponentiate(of_previous_.data(), k_ * k_);
    }

    // p = P, from the evidence on both sides. Returns log P(gold).
    double normalise(const double* before, std::int64_t gold, std::vector<double>& p) {
        for (std::int64_t v = 0; v < k_; ++v) p[v] = before[v] + after_[v];
        const double of_gold = p[gold];
        double log_z = 0;
        log_shares(p.data(), 1, k_, k_, 1, &log_z);
        return log_z == kMinusInfinity ? kMinusInfinity : of_gold - log_z;
    }

    void write(std::int64_t previous, std::int64_t label, float* to) const {
        for (std::int64_t u = 0; u < k_; ++u) {
            for (std::int64_t v = 0; v < k_; ++v) {
                const std::int64_t pair = u * k_ + v;
                const double derivative = ((v == label) - p_[v]) * of_previous_[pair] +
                                          ((u == previous) - p_before_[u]) * of_label_[pair];
                to[pair] = static_cast<float>((u == previous && v == label) - derivative);
            }
        }
    }

    const LatticeBatch<Real>& batch_;
    const std::int32_t* gold_;
    const EvidenceSums& out_;
    std::int64_t k_;
    Scores<Real> scores_{};                       // of the sequence
    std::vector<double> before_;                  // [length, K], logarithms
    std::vector<double> after_;                   // [K], the logarithm of after_t
    std::vector<double> p_, p_before_;            // [K], P_t and P_(t-1)
    std::vector<double> of_previous_, of_label_;  // [K, K], Q(u | v) and Q(v | u)
};

}  // namespace

template <class Real>
void evidence_sums(const LatticeBatch<Real>& batch, const std::int32_t* gold, const EvidenceSums& out) {
    batch.for_each_sequence([&] { return EvidenceWorker<Real>(batch, gold, out); });
}

template void evidence_sums(const LatticeBatch<float>&, const std::int32_t*, const EvidenceSums&);
template void evidence_sums(const LatticeBatch<double>&, const std::int32_t*, const EvidenceSums&);

}  // namespace hedgerow
