#include "lattice/evidence_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "util/numeric.hpp"

namespace hedgerow {
namespace {

// Replaces n columns of m numbers, the columns stride apart and their numbers step apart, by their shares of
// the sum of their exponentials. OUT: to[j] = log of that sum of column j. A column of minus infinities has
// shares of 0.
void log_shares(double* x, std::int64_t n, std::int64_t stride, std::int64_t m, std::int64_t step,
                double* to) {
    for (std::int64_t j = 0; j < n; ++j) {
        double* column = x + j * stride;
        double highest = kMinusInfinity;
        for (std::int64_t i = 0; i < m; ++i) highest = std::max(highest, column[i * step]);
        to[j] = highest;
        if (highest == kMinusInfinity) continue;
        for (std::int64_t i = 0; i < m; ++i) column[i * step] -= highest;
    }
    using namespace HEDGEROW_ISA;
    constexpr int lanes = 2;
    std::int64_t i = 0;
    for (; i + lanes <= n * m; i += lanes)
        store<lanes>(x + i, exponential<double, lanes>(load<lanes>(x + i)));
    for (; i < n * m; ++i) store<1>(x + i, exponential<double, 1>(load<1>(x + i)));
    for (std::int64_t j = 0; j < n; ++j) {
        if (to[j] == kMinusInfinity) continue;
        double* column = x + j * stride;
        double sum = 0;
        for (std::int64_t r = 0; r < m; ++r) sum += column[r * step];
        for (std::int64_t r = 0; r < m; ++r) column[r * step] /= sum;
        to[j] += std::log(sum);
    }
}

// Processes the sequences of one thread. Arrays are those of the sequence; pairs are [previous label, label].
template <class Real>
class EvidenceWorker {
  public:
    EvidenceWorker(const LatticeBatch<Real>& batch, const std::int32_t* gold, const EvidenceSums& out)
        : batch_(batch), gold_(gold), out_(out), k_(batch.n_labels()) {}

    void operator()(std::int64_t i) {
        length_ = batch_.length(i);
        labels_ = gold_ + batch_.first(i);
        const auto n = static_cast<std::size_t>(length_), k = static_cast<std::size_t>(k_);
        for (auto* by_label : {&before_, &after_, &p_}) by_label->assign(n * k, 0.0);
        for (auto* by_pair : {&of_previous_, &of_label_}) by_pair->resize(n * k * k);
        read(i);
        for (std::int64_t t = 1; t < length_; ++t) sweep_on(t);
        for (std::int64_t t = length_ - 1; t > 0; --t) sweep_back(t);
        out_.log_likelihood[i] = normalise();
        for (std::int64_t t = 0; t < length_; ++t) write(t, out_.marginals + (batch_.first(i) + t) * k_ * k_);
    }

  private:
    double* pairs(std::vector<double>& of, std::int64_t t) { return of.data() + t * k_ * k_; }

    // The scores E_t of all pairs, into both arrays of pairs; the first position's into before_.
    void read(std::int64_t i) {
        const ScoreReader<Real> reader(batch_.topology, batch_.scores(i));
        for (std::int64_t t = 0; t < length_; ++t) {
            for (std::int64_t v = 0; v < k_; ++v) {
                const auto score = reader.template at<double>(t, batch_.topology.first_row(t), v);
                if (t == 0) before_[v] = score(0);
                for (std::int64_t u = 0; t > 0 && u < k_; ++u)
                    pairs(of_previous_, t)[u * k_ + v] = pairs(of_label_, t)[u * k_ + v] = score(u);
            }
        }
    }

    // before_[t] is the logarithm of before_t, and of_previous_[t] becomes Q(u | v).
    void sweep_on(std::int64_t t) {
        double* x = pairs(of_previous_, t);
        const double* before = before_.data() + (t - 1) * k_;
        for (std::int64_t u = 0; u < k_; ++u)
            for (std::int64_t v = 0; v < k_; ++v) x[u * k_ + v] += before[u];
        log_shares(x, k_, 1, k_, k_, before_.data() + t * k_);
    }

    // after_[t - 1] is the logarithm of after_(t-1), and of_label_[t] becomes Q(v | u).
    void sweep_back(std::int64_t t) {
        double* x = pairs(of_label_, t);
        const double* after = after_.data() + t * k_;
        for (std::int64_t u = 0; u < k_; ++u)
            for (std::int64_t v = 0; v < k_; ++v) x[u * k_ + v] += after[v];
        log_shares(x, k_, k_, k_, 1, after_.data() + (t - 1) * k_);
    }

    // p_[t] is P_t. Returns the log-likelihood.
    double normalise() {
        double sum = 0;
        for (std::int64_t t = 0; t < length_; ++t) {
            double *p = p_.data() + t * k_, log_z = 0;
            for (std::int64_t v = 0; v < k_; ++v) p[v] = before_[t * k_ + v] + after_[t * k_ + v];
            const double of_gold = p[labels_[t]];
            log_shares(p, 1, k_, k_, 1, &log_z);
            sum += log_z == kMinusInfinity ? kMinusInfinity : of_gold - log_z;
        }
        return sum;
    }

    void write(std::int64_t t, float* to) {
        const double* p = p_.data() + t * k_;
        if (t == 0) {
            std::fill_n(to, k_ * k_, 0.0f);
            for (std::int64_t v = 0; v < k_; ++v) to[v] = static_cast<float>(p[v]);
            return;
        }
        const double *of_previous = pairs(of_previous_, t), *of_label = pairs(of_label_, t);
        const std::int64_t label = labels_[t], previous = labels_[t - 1];
        for (std::int64_t u = 0; u < k_; ++u) {
            for (std::int64_t v = 0; v < k_; ++v) {
                const double derivative = ((v == label) - p[v]) * of_previous[u * k_ + v] +
                                          ((u == previous) - p[u - k_]) * of_label[u * k_ + v];
                to[u * k_ + v] = static_cast<float>((u == previous && v == label) - derivative);
            }
        }
    }

    const LatticeBatch<Real>& batch_;
    const std::int32_t* gold_;
    const EvidenceSums& out_;
    std::int64_t k_, length_ = 0;
    const std::int32_t* labels_ = nullptr;
    std::vector<double> before_, after_, p_;      // [length, K]; the first two are logarithms
    std::vector<double> of_previous_, of_label_;  // [length, K, K]
};

}  // namespace

template <class Real>
void evidence_sums(const LatticeBatch<Real>& batch, const std::int32_t* gold, const EvidenceSums& out) {
    batch.for_each_sequence([&] { return EvidenceWorker<Real>(batch, gold, out); });
}

template void evidence_sums(const LatticeBatch<float>&, const std::int32_t*, const EvidenceSums&);
template void evidence_sums(const LatticeBatch<double>&, const std::int32_t*, const EvidenceSums&);

}  // namespace hedgerow
