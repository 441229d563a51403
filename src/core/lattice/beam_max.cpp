// The fast lane for the best path under a beam, order 1: in double and in the same order of operations as
// lattice.hpp with the Max semiring, so that both keep the same labels and find the same path, ties included.
//
//   m[t,y] = max over kept h of (m[t-1,h] + score(t,h,y));   the best m are kept
//
// With a bound, those are kept that hold all of the sum of exp(m[t,y]) over y but a small share.
#include <cmath>
#include <limits>

#include "lattice/fast_lane.hpp"
#include "lattice/selection.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

double half_way(double low, double high) {
    return low / 2 + high / 2;
}

template <class Real>
class BeamPath {
  public:
    BeamPath(const Scores<Real>& scores, std::int64_t k, const Beam& beam, const BeamWork<double>& work)
        : scores_(scores), k_(k), width_(padded<double>(k)), room_(beam.most(k) + 1), beam_(beam) {
        values_ = work.numbers;
        row_ = values_ + scores.length * room_;
        step_ = row_ + width_;
        labels_ = work.places;
        counts_ = labels_ + scores.length * room_;
        heap_ = counts_ + scores.length;
    }

    double run(std::int32_t* labels) {
        for (std::int64_t t = 0; t < scores_.length; ++t) {
            reach(t);
            beam_.bound > 0 ? keep_mass(t) : keep_best(t);
            if (counts_[t] == 0) return -INFINITY;
        }
        return trace(labels);
    }

    static BeamSize size(std::int64_t k, const Beam& beam, std::int64_t length) {
        const std::int64_t room = beam.most(k) + 1;
        return {length * room + 2 * padded<double>(k), length * (room + 1) + k};
    }

  private:
    // (edge + table) + state, as ScoreReader adds them.
    double score(std::int64_t t, std::int64_t h, std::int64_t y) const {
        double sum = 0;
        if (scores_.edge) sum += scores_.edge[(t * k_ + h) * k_ + y];
        if (scores_.table) sum += scores_.table[(t == 0 ? 0 : 1 + h) * k_ + y];
        if (scores_.state) sum += scores_.state[t * k_ + y];
        return sum;
    }
    void score_row(std::int64_t t, std::int64_t h, double* row) const {
        for (std::int64_t y = 0; y < k_; ++y) row[y] = score(t, h, y);
    }

    void reach(std::int64_t t) {
        for (std::int64_t i = 0; i < width_; ++i) row_[i] = -INFINITY;
        if (t == 0) return score_row(0, 0, row_);
        const bool table_alone = scores_.table && !scores_.edge;
        for (std::int64_t y = 0; table_alone && y < k_; ++y)
            step_[y] = scores_.state ? scores_.state[t * k_ + y] : Real(0);
        for (std::int64_t j = 0; j < counts_[t - 1]; ++j) {
            const std::int64_t h = labels_[(t - 1) * room_ + j];
            if (table_alone) {
                raise(values_[(t - 1) * room_ + j], scores_.table + (1 + h) * k_);
            } else {
                score_row(t, h, step_);
                raise<double>(values_[(t - 1) * room_ + j], nullptr);
            }
        }
    }
    // row[y] <- max(row[y], before + (table[y] + step[y])). A null table counts as zeros.
    template <class Number>
    void raise(double before, const Number* table) const {
        double* row = row_;
        const double* step = step_;
#pragma omp simd
        for (std::int64_t y = 0; y < k_; ++y) {
            const double value = before + (table ? static_cast<double>(table[y]) + step[y] : step[y]);
            row[y] = value > row[y] ? value : row[y];
        }
    }

    void keep_best(std::int64_t t) {
        constexpr double lowest = std::numeric_limits<double>::lowest();
        Cut<double> best{lowest, lowest, 0};  // every label that is not forbidden
        if (count_from(row_, width_, lowest) > beam_.size) {
            double least = INFINITY;
#pragma omp simd reduction(min : least)
            for (std::int64_t y = 0; y < k_; ++y)
                least = row_[y] >= lowest && row_[y] < least ? row_[y] : least;
            best = cut(row_, width_, beam_.size, least, half_way);
        }
        write_kept(t, take(row_, width_, best, label_to_keep(t), labels_ + t * room_));
    }
    // The same for a beam with a bound.
    void keep_mass(std::int64_t t) {
        double unused;
        for (std::int64_t y = 0; y < k_; ++y) step_[y] = row_[y];
        to_masses(step_, k_);
        write_kept(t, take_mass(step_, width_, k_, beam_.allowance(), label_to_keep(t), labels_ + t * room_,
                                heap_, &unused));
    }
    // -1 if no path goes there.
    std::int64_t label_to_keep(std::int64_t t) const {
        const std::int64_t keep = beam_.keep ? beam_.keep[t] : -1;
        return keep >= 0 && row_[keep] >= std::numeric_limits<double>::lowest() ? keep : -1;
    }
    void write_kept(std::int64_t t, std::int64_t n) {
        counts_[t] = static_cast<std::int32_t>(n);
        for (std::int64_t i = 0; i < n; ++i) values_[t * room_ + i] = row_[labels_[t * room_ + i]];
    }

    double trace(std::int32_t* labels) const {
        double best = -INFINITY;
        for (std::int64_t t = scores_.length - 1; t >= 0; --t) {
            const double* values = values_ + t * room_;
            const bool is_last = t == scores_.length - 1;
            double highest = -INFINITY;
            for (std::int64_t i = 0; i < counts_[t]; ++i) {
                const std::int64_t y = labels_[t * room_ + i];
                const double value = values[i] + (is_last ? 0.0 : score(t + 1, y, labels[t + 1]));
                if (!(value > highest)) continue;
                highest = value;
                labels[t] = static_cast<std::int32_t>(y);
            }
            if (is_last) best = highest;
        }
        return best;
    }

    Scores<Real> scores_;
    std::int64_t k_, width_, room_;
    Beam beam_;
    double *values_, *row_, *step_;
    std::int32_t *labels_, *counts_, *heap_;
};

template <class Real>
void beam_max(const Scores<Real>& scores, std::int64_t k, const Beam& beam, std::int32_t* labels,
              const BeamWork<double>& work, double* score) {
    *score = BeamPath<Real>(scores, k, beam, work).run(labels);
}

std::int64_t keep_mass(double* logs, std::int64_t n, double allowance, std::int64_t also, std::int32_t* kept,
                       std::int32_t* heap) {
    double unused;
    to_masses(logs, n);
    return take_mass(logs, padded<double>(n), n, allowance, also, kept, heap, &unused);
}

}  // namespace

template <class Real>
void offer_beam_max(FastLane<Real>& lane) {
    lane.beam_max = beam_max<Real>;
    lane.beam_max_size = BeamPath<Real>::size;
    lane.keep_mass = keep_mass;
}
template void offer_beam_max(FastLane<float>&);
template void offer_beam_max(FastLane<double>&);

}  // namespace hedgerow::HEDGEROW_ISA
