#include "data/label_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "util/parallel.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kPiece = 64;  // positions of a task
constexpr double kNothing = 1e-9;    // what rounding may leave of a weighted count after subtraction

// Counts the labels of the attributes of single slots. Slots have attributes of their own.
class SlotCounter {
  public:
    SlotCounter(const AttributeView& attributes, const std::int32_t* labels, std::int64_t n_labels,
                const std::int32_t* folds, std::int64_t n_folds, const double* weights)
        : attributes_(attributes),
          labels_(labels),
          folds_(folds),
          n_folds_(n_folds),
          weights_(weights),
          sums_(static_cast<std::size_t>(n_labels * n_folds), 0.0),
          occurs_(static_cast<std::size_t>(n_labels), 0) {}

    LabelCounts count(std::int64_t s) {
        list_positions(s);
        LabelCounts counted;
        counted.starts.assign(1, 0);
        counted.starts.reserve(starts_.size());
        for (std::size_t v = 0; v + 1 < starts_.size(); ++v) {
            found_.clear();
            for (std::int64_t i = starts_[v]; i < starts_[v + 1]; ++i) add(positions_[i]);
            std::ranges::sort(found_);
            for (const std::int32_t y : found_) take(y, counted);
            counted.starts.push_back(static_cast<std::int64_t>(counted.labels.size()));
        }
        return counted;
    }

  private:
    // The positions of each attribute of the slot, by counting sort.
    void list_positions(std::int64_t s) {
        const Slots& slots = attributes_.slots;
        const std::int64_t first = slots[s].first_id;
        const std::int64_t last = s + 1 < slots.size ? slots[s + 1].first_id : attributes_.n_ids;
        const auto each = [&](auto visit) {
            attributes_.for_each_position(
                0, attributes_.n_positions(), [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                    for_each_id(slots[s], t, begin, end, [&](std::int32_t id, float) {
                        if (id >= 0) visit(id - first, static_cast<std::int32_t>(t));
                    });
                });
        };
        starts_.assign(static_cast<std::size_t>(last - first) + 1, 0);
        each([&](std::int64_t v, std::int32_t) { ++starts_[v + 1]; });
        for (std::size_t v = 1; v < starts_.size(); ++v) starts_[v] += starts_[v - 1];
        positions_.resize(static_cast<std::size_t>(starts_.back()));
        next_.assign(starts_.begin(), starts_.end() - 1);
        each([&](std::int64_t v, std::int32_t t) { positions_[next_[v]++] = t; });
    }

    void add(std::int32_t t) {
        const std::int32_t y = labels_[t];
        if (!occurs_[y]) found_.push_back(y);
        occurs_[y] = 1;
        sums_[y * n_folds_ + folds_[t]] += weights_ == nullptr ? 1.0 : weights_[t];
    }

    void take(std::int32_t y, LabelCounts& counted) {
        double* of_label = sums_.data() + y * n_folds_;
        counted.labels.push_back(y);
        counted.counts.insert(counted.counts.end(), of_label, of_label + n_folds_);
        std::fill(of_label, of_label + n_folds_, 0.0);
        occurs_[y] = 0;
    }

    const AttributeView& attributes_;
    const std::int32_t *labels_, *folds_;
    std::int64_t n_folds_;
    const double* weights_;
    std::vector<std::int64_t> starts_, next_;  // by attribute of the slot
    std::vector<std::int32_t> positions_;
    std::vector<double> sums_;  // of an attribute (labels, folds)
    std::vector<std::uint8_t> occurs_;
    std::vector<std::int32_t> found_;
};

}  // namespace

LabelCounts count_labels(const AttributeView& attributes, const std::int32_t* labels, std::int64_t n_labels,
                         const std::int32_t* folds, std::int64_t n_folds, const double* weights,
                         std::int64_t n_threads) {
    const std::int64_t n_slots = attributes.slots.size;
    std::vector<LabelCounts> by_slot(static_cast<std::size_t>(n_slots));
    parallel_for(n_slots, n_threads, [&] {
        return [&, counter = SlotCounter(attributes, labels, n_labels, folds, n_folds, weights)](
                   std::int64_t s) mutable { by_slot[s] = counter.count(s); };
    });
    LabelCounts all;
    all.starts.assign(1, 0);
    for (LabelCounts& counted : by_slot) {
        const auto first = static_cast<std::int64_t>(all.labels.size());
        for (std::size_t v = 1; v < counted.starts.size(); ++v)
            all.starts.push_back(first + counted.starts[v]);
        all.labels.insert(all.labels.end(), counted.labels.begin(), counted.labels.end());
        all.counts.insert(all.counts.end(), counted.counts.begin(), counted.counts.end());
        counted = {};
    }
    return all;
}

template <class Record>
LogRatios::Zeros<Record> LogRatios::zeros(std::int64_t n) {
    auto* records = static_cast<Record*>(std::calloc(static_cast<std::size_t>(n) + 1, sizeof(Record)));
    if (records == nullptr) throw std::bad_alloc();
    return Zeros<Record>(records);
}

LogRatios::LogRatios(const LabelStatistics& statistics, std::int64_t n_ids)
    : of_(statistics),
      n_ids_(n_ids),
      n_entries_(statistics.starts[n_ids]),
      entries_(zeros<Entry>(n_entries_ * std::max<std::int64_t>(statistics.n_folds, 1))),
      attributes_(zeros<Attribute>(n_ids * std::max<std::int64_t>(statistics.n_folds, 1))) {}

void LogRatios::compute(std::int64_t id, std::int64_t fold) {
    double all = 0;
    for (std::int64_t e = of_.starts[id]; e < of_.starts[id + 1]; ++e) {
        Entry& entry = entries_[fold * n_entries_ + e];
        entry.label = of_.labels[e];
        double count = of_.counts[e];
        if (of_.folds != nullptr) count -= of_.fold_counts[e * of_.n_folds + fold];
        if (count < kNothing) continue;
        all += count;
        entry.logarithm = std::log1p(count / (of_.smoothing * of_.prior[entry.label]));
    }
    if (all != 0) attributes_[fold * n_ids_ + id] = {std::log1p(all / of_.smoothing), std::log1p(all)};
}

// Computes what is not known of the attributes of a slot.
void LogRatios::read_slot(const AttributeView& attributes, std::int64_t s) {
    attributes.for_each_position(
        0, attributes.n_positions(), [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            for_each_id(attributes.slots[s], t, begin, end, [&](std::int32_t id, float) {
                if (id >= 0 && attributes_[fold(t) * n_ids_ + id].count == 0) compute(id, fold(t));
            });
        });
}

// Sums of a piece of positions. All attributes are listed first, so that what is known of them can be fetched
// before it is used: most of it is in no near cache.
class LogRatios::Piece {
  public:
    explicit Piece(const LogRatios& of)
        : of_(of),
          n_rows_(of.of_.n_families * (of.of_.n_labels + 1)),
          sums_(static_cast<std::size_t>(n_rows_ + of.of_.n_families)),
          ratios_(static_cast<std::size_t>(kPiece * n_rows_)) {}

    // OUT: ratios of the positions first..last, `n` apart.
    void write(const AttributeView& attributes, std::int64_t first, std::int64_t last, std::int64_t n,
               float* ratios) {
        list(attributes, first, last);
        for (std::int64_t i = 0; i < last - first; ++i) sum(i, of_.fold(first + i));
        for (std::int64_t r = 0; r < n_rows_; ++r) {
            for (std::int64_t i = 0; i < last - first; ++i)
                ratios[r * n + first + i] = ratios_[i * n_rows_ + r];
        }
    }

  private:
    struct Read {
        std::int32_t id, family;
    };
    static constexpr std::size_t kAhead = 8;

    void list(const AttributeView& attributes, std::int64_t first, std::int64_t last) {
        reads_.clear();
        starts_.assign(1, 0);
        attributes.for_each_position(first, last, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            for (std::int64_t s = 0; s < attributes.slots.size; ++s) {
                for_each_id(attributes.slots[s], t, begin, end, [&](std::int32_t id, float) {
                    if (id < 0) return;
                    prefetch(of_.of_.starts + id);
                    prefetch(of_.attributes_.get() + of_.fold(t) * of_.n_ids_ + id);
                    reads_.push_back({id, of_.of_.families[s]});
                });
            }
            starts_.push_back(reads_.size());
        });
    }

    // Position i of the piece.
    void sum(std::int64_t i, std::int64_t fold) {
        const std::int64_t k = of_.of_.n_labels, *starts = of_.of_.starts;
        const Entry* entries = of_.entries_.get() + fold * of_.n_entries_;
        std::ranges::fill(sums_, 0.0);
        for (std::size_t r = starts_[i]; r < starts_[i + 1]; ++r) {
            if (r + kAhead < reads_.size()) prefetch(entries + starts[reads_[r + kAhead].id]);
            const std::int64_t id = reads_[r].id;
            const Attribute& attribute = of_.attributes_[fold * of_.n_ids_ + id];
            double* to = sums_.data() + reads_[r].family * (k + 2);
            if (attribute.count == 0) continue;
            for (std::int64_t e = starts[id]; e < starts[id + 1]; ++e)
                to[entries[e].label] += entries[e].logarithm;
            to[k] -= attribute.all;
            to[k + 1] += attribute.count;
        }
        const double* sums = sums_.data();
        float* ratios = ratios_.data() + i * n_rows_;
        for (std::int64_t family = 0; family < of_.of_.n_families; ++family, sums += k + 2, ratios += k + 1) {
            for (std::int64_t y = 0; y < k; ++y) ratios[y] = static_cast<float>(sums[y] + sums[k]);
            ratios[k] = static_cast<float>(sums[k + 1]);
        }
    }

    const LogRatios& of_;
    std::int64_t n_rows_;
    std::vector<Read> reads_;          // of all positions
    std::vector<std::size_t> starts_;  // by position, and the end
    std::vector<double> sums_;         // (families, labels + 2): what each label adds, what all lose, counts
    std::vector<float> ratios_;        // (positions, families, labels + 1)
};

// Slots have attributes of their own, so that threads which read slots never write the same number.
void LogRatios::sum(const AttributeView& attributes, float* ratios, std::int64_t n_threads) {
    {
        const std::lock_guard lock(writing_);
        parallel_for(attributes.slots.size, n_threads,
                     [&] { return [&](std::int64_t s) { read_slot(attributes, s); }; });
    }
    const std::int64_t n = attributes.n_positions();
    parallel_for((n + kPiece - 1) / kPiece, n_threads, [&] {
        return [&, piece = Piece(*this)](std::int64_t p) mutable {
            piece.write(attributes, p * kPiece, std::min(n, (p + 1) * kPiece), n, ratios);
        };
    });
}

}  // namespace hedgerow
