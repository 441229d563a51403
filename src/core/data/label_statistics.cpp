#include "data/label_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kPiece = 1024;  // positions of a task
constexpr double kNothing = 1e-9;      // what rounding may leave of a weighted count after subtraction

// The positions of each attribute, by counting sort.
struct Occurrences {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> positions;

    explicit Occurrences(const AttributeView& attributes)
        : starts(static_cast<std::size_t>(attributes.n_ids) + 1, 0) {
        const auto each = [&](auto visit) {
            attributes.for_each_position(
                0, attributes.n_positions(), [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                    for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float) {
                        if (id >= 0) visit(id, static_cast<std::int32_t>(t));
                    });
                });
        };
        each([&](std::int32_t id, std::int32_t) { ++starts[id + 1]; });
        for (std::size_t v = 1; v < starts.size(); ++v) starts[v] += starts[v - 1];
        positions.resize(static_cast<std::size_t>(starts.back()));
        std::vector<std::int64_t> at(starts.begin(), starts.end() - 1);
        each([&](std::int32_t id, std::int32_t t) { positions[at[id]++] = t; });
    }
};

// Sums up the families of one position at a time.
class PositionSums {
  public:
    PositionSums(const AttributeView& attributes, const LabelStatistics& statistics)
        : attributes_(attributes),
          of_(statistics),
          sums_(static_cast<std::size_t>(statistics.n_families * (statistics.n_labels + 2))) {}

    void write(std::int64_t t, std::int64_t begin, std::int64_t end, float* ratios) {
        std::ranges::fill(sums_, 0.0);
        const std::int64_t width = of_.n_labels + 2;
        for (std::int64_t s = 0; s < attributes_.slots.size; ++s) {
            double* sums = sums_.data() + of_.families[s] * width;
            for_each_id(attributes_.slots[s], t, begin, end, [&](std::int32_t id, float) {
                if (id >= 0) add(id, t, sums);
            });
        }
        const std::int64_t n = attributes_.n_positions();
        for (std::int64_t family = 0; family < of_.n_families; ++family) {
            const double* sums = sums_.data() + family * width;
            float* to = ratios + family * (of_.n_labels + 1) * n + t;
            for (std::int64_t y = 0; y < of_.n_labels; ++y)
                to[y * n] = static_cast<float>(sums[y] + sums[of_.n_labels]);
            to[of_.n_labels * n] = static_cast<float>(sums[of_.n_labels + 1]);
        }
    }

  private:
    // sums: by label what its count adds, then what all labels lose, then log(1 + count).
    void add(std::int32_t id, std::int64_t t, double* sums) const {
        double all = 0;
        for (std::int64_t e = of_.starts[id]; e < of_.starts[id + 1]; ++e) {
            double count = of_.counts[e];
            if (of_.folds != nullptr) count -= of_.fold_counts[e * of_.n_folds + of_.folds[t]];
            if (count < kNothing) continue;
            all += count;
            const std::int32_t y = of_.labels[e];
            sums[y] += std::log1p(count / (of_.smoothing * of_.prior[y]));
        }
        sums[of_.n_labels] -= std::log1p(all / of_.smoothing);
        sums[of_.n_labels + 1] += std::log1p(all);
    }

    const AttributeView& attributes_;
    const LabelStatistics& of_;
    std::vector<double> sums_;  // (families, labels + 2)
};

}  // namespace

LabelCounts count_labels(const AttributeView& attributes, const std::int32_t* labels, std::int64_t n_labels,
                         const std::int32_t* folds, std::int64_t n_folds, const double* weights) {
    const Occurrences occurrences(attributes);
    LabelCounts counted;
    counted.starts.assign(1, 0);
    counted.starts.reserve(static_cast<std::size_t>(attributes.n_ids) + 1);
    std::vector<double> sums(static_cast<std::size_t>(n_labels * n_folds), 0.0);
    std::vector<std::uint8_t> occurs(static_cast<std::size_t>(n_labels), 0);
    std::vector<std::int32_t> found;
    for (std::int64_t v = 0; v < attributes.n_ids; ++v) {
        found.clear();
        for (std::int64_t i = occurrences.starts[v]; i < occurrences.starts[v + 1]; ++i) {
            const std::int32_t t = occurrences.positions[i], y = labels[t];
            if (!occurs[y]) found.push_back(y);
            occurs[y] = 1;
            sums[y * n_folds + folds[t]] += weights == nullptr ? 1.0 : weights[t];
        }
        std::ranges::sort(found);
        for (const std::int32_t y : found) {
            counted.labels.push_back(y);
            double* of_label = sums.data() + y * n_folds;
            counted.counts.insert(counted.counts.end(), of_label, of_label + n_folds);
            std::fill(of_label, of_label + n_folds, 0.0);
            occurs[y] = 0;
        }
        counted.starts.push_back(static_cast<std::int64_t>(counted.labels.size()));
    }
    return counted;
}

void sum_log_ratios(const AttributeView& attributes, const LabelStatistics& statistics, float* ratios,
                    std::int64_t n_threads) {
    const std::int64_t n = attributes.n_positions();
    parallel_for((n + kPiece - 1) / kPiece, n_threads, [&] {
        return [&, sums = PositionSums(attributes, statistics)](std::int64_t piece) mutable {
            attributes.for_each_position(piece * kPiece, std::min(n, (piece + 1) * kPiece),
                                         [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                                             sums.write(t, begin, end, ratios);
                                         });
        };
    });
}

}  // namespace hedgerow
