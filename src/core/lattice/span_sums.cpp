#include "lattice/span_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hedgerow {
namespace {

// The sweep for order >= 1. After step(t), values_[c] is the probability that the span has begun, goes on
// at t, and c is the label context of t + 1.
template <class Real>
class SpanSweep {
  public:
    SpanSweep(const SpanReading<Real>& reading, std::int64_t begin)
        : reading_(reading),
          k_(reading.topology.n_labels),
          order_(reading.topology.order),
          begin_(begin),
          values_(static_cast<std::size_t>(reading.topology.n_label_contexts()), 0.0),
          next_(values_.size(), 0.0) {}

    void start(std::int64_t t, std::int32_t type) {
        const Shape shape = shape_at(t);
        for (std::int64_t c = 0; c < shape.n_contexts; ++c) {
            for (std::int64_t y = 0; y < k_; ++y) {
                const bool begins = reading_.types[y] == type && (shape.length == 0 || !joins(c, shape, y));
                if (begins) next_[shape.next(c, y)] += static_cast<double>(row(t, c)[y]);
            }
        }
        std::swap(values_, next_);
    }

    void step(std::int64_t t) {
        const Shape shape = shape_at(t);
        std::fill(next_.begin(), next_.end(), 0.0);
        for (std::int64_t c = 0; c < shape.n_contexts; ++c) {
            const double share = share_of(t, c);
            for (std::int64_t y = 0; share > 0 && y < k_; ++y)
                if (joins(c, shape, y)) next_[shape.next(c, y)] += share * static_cast<double>(row(t, c)[y]);
        }
        std::swap(values_, next_);
    }

    // The probability that the label at t does not join the span.
    double stop(std::int64_t t) const {
        const Shape shape = shape_at(t);
        double sum = 0;
        for (std::int64_t c = 0; c < shape.n_contexts; ++c) {
            const double share = share_of(t, c);
            for (std::int64_t y = 0; share > 0 && y < k_; ++y)
                if (!joins(c, shape, y)) sum += share * static_cast<double>(row(t, c)[y]);
        }
        return sum;
    }

    double total() const {
        double sum = 0;
        for (const double value : values_) sum += value;
        return sum;
    }

  private:
    // The label contexts of a position: see Topology. newest: K^(length - 1), by which a context is divided
    // to get its most recent label.
    struct Shape {
        std::int64_t length, n_contexts, newest, forget, stride;
        std::int64_t next(std::int64_t c, std::int64_t y) const { return y * stride + c / forget; }
    };
    Shape shape_at(std::int64_t t) const {
        const Topology& topology = reading_.topology;
        const std::int64_t length = std::min(t - begin_, order_);
        const std::int64_t after = std::min(length + 1, order_);
        return {length, topology.power(length), topology.power(std::max<std::int64_t>(length - 1, 0)),
                length == order_ ? k_ : 1, topology.power(after - 1)};
    }

    const Real* row(std::int64_t t, std::int64_t c) const {
        return reading_.pair + (t * reading_.topology.n_label_contexts() + c) * k_;
    }
    bool joins(std::int64_t c, const Shape& shape, std::int64_t y) const {
        return reading_.joins[c / shape.newest * k_ + y] != 0;
    }
    // values_[c] / P(c): what P(c, y) is multiplied by.
    double share_of(std::int64_t t, std::int64_t c) const {
        if (!(values_[c] > 0)) return 0;
        double sum = 0;
        for (std::int64_t y = 0; y < k_; ++y) sum += static_cast<double>(row(t, c)[y]);
        return sum > 0 ? values_[c] / sum : 0;
    }

    const SpanReading<Real>& reading_;
    std::int64_t k_, order_, begin_;
    std::vector<double> values_, next_;
};

// Order 0: positions are independent, so the pair of two labels has the product of their probabilities.
template <class Real>
double independent(const SpanReading<Real>& reading, const LabelSpan& span, std::int64_t begin,
                   std::int64_t end) {
    const std::int64_t k = reading.topology.n_labels;
    const auto p = [&](std::int64_t t, std::int64_t y) {
        return static_cast<double>(reading.pair[t * k + y]);
    };
    // Σ over labels z at `other` that join (or do not join) y, before or after it.
    const auto beside = [&](std::int64_t other, std::int64_t y, bool before, bool joined) {
        double sum = 0;
        for (std::int64_t z = 0; z < k; ++z)
            if ((reading.joins[before ? z * k + y : y * k + z] != 0) == joined) sum += p(other, z);
        return sum;
    };
    std::vector<double> values(static_cast<std::size_t>(k), 0.0), next(values);
    for (std::int64_t y = 0; y < k; ++y) {
        if (reading.types[y] != span.type) continue;
        values[y] = p(span.first, y) * (span.first == begin ? 1.0 : beside(span.first - 1, y, true, false));
    }
    for (std::int64_t t = span.first + 1; t < span.end; ++t) {
        for (std::int64_t y = 0; y < k; ++y) {
            next[y] = 0;
            for (std::int64_t z = 0; z < k; ++z)
                if (reading.joins[z * k + y]) next[y] += values[z] * p(t, y);
        }
        std::swap(values, next);
    }
    double sum = 0;
    for (std::int64_t y = 0; y < k; ++y)
        sum += values[y] * (span.end == end ? 1.0 : beside(span.end, y, false, false));
    return sum;
}

}  // namespace

template <class Real>
double span_probability(const SpanReading<Real>& reading, const LabelSpan& span) {
    const std::int64_t* const starts = reading.starts;
    const std::int64_t* const after = std::upper_bound(starts, starts + reading.n_sequences, span.first);
    const std::int64_t begin = after[-1], end = *after;
    double probability = 0;
    if (reading.topology.order == 0) {
        probability = independent(reading, span, begin, end);
    } else {
        SpanSweep<Real> sweep(reading, begin);
        sweep.start(span.first, span.type);
        for (std::int64_t t = span.first + 1; t < span.end; ++t) sweep.step(t);
        probability = span.end == end ? sweep.total() : sweep.stop(span.end);
    }
    return std::min(probability, 1.0);
}

template double span_probability(const SpanReading<float>&, const LabelSpan&);
template double span_probability(const SpanReading<double>&, const LabelSpan&);

}  // namespace hedgerow
