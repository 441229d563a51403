// Label statistics: how often each label occurs at positions that have an attribute, and what that says about
// the label of a position.
//
// The log-ratio of an attribute v and a label y is log P(y | v) / P(y), with smoothed frequencies
// P(y | v) = (count(v, y) + s P(y)) / (count(v) + s). It is 0 for an attribute that was never counted. The
// log-ratios of all attributes of a family are summed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "data/attribute_reader.hpp"

namespace hedgerow {

// Weighted counts as a sparse matrix: attribute v occurs with the labels labels[starts[v]:starts[v + 1]],
// rising, and each entry has a count for every fold.
struct LabelCounts {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> labels;
    std::vector<double> counts;  // (entries, folds)
};

// IN: by position the label, the fold, and the weight (null: all are 1).
LabelCounts count_labels(const AttributeView& attributes, const std::int32_t* labels, std::int64_t n_labels,
                         const std::int32_t* folds, std::int64_t n_folds, const double* weights,
                         std::int64_t n_threads);

struct LabelStatistics {
    const std::int64_t* starts;
    const std::int32_t* labels;
    const double* counts;  // by entry: all folds together
    std::int64_t n_labels;
    const double* prior;           // P(label) > 0
    double smoothing;              // > 0
    const std::int32_t* families;  // by slot
    std::int64_t n_families;
    // Out of fold: the counts of a position's own fold are subtracted. Null: nothing is.
    const double* fold_counts = nullptr;  // (entries, folds)
    const std::int32_t* folds = nullptr;  // by position
    std::int64_t n_folds = 0;
};

// Sums of log-ratios. The logarithms of an attribute are computed when it is first read, then kept.
class LogRatios {
  public:
    LogRatios(const LabelStatistics& statistics, std::int64_t n_ids);

    // OUT: ratios (families, labels + 1, positions): the log-ratio of each label, then the sum of
    // log(1 + count) over the attributes of the family.
    void sum(const AttributeView& attributes, float* ratios, std::int64_t n_threads);

  private:
    struct Free {
        void operator()(void* records) const { std::free(records); }
    };
    // Zeros that use no memory before something is written.
    template <class Record>
    using Zeros = std::unique_ptr<Record[], Free>;
    template <class Record>
    static Zeros<Record> zeros(std::int64_t n);
    struct Entry {
        double logarithm;  // log(1 + count(v, y) / s P(y))
        std::int32_t label;
    };
    struct Attribute {
        double all;    // log(1 + count(v) / s)
        double count;  // log(1 + count(v)); 0 if it is not known
    };

    std::int64_t fold(std::int64_t t) const { return of_.folds == nullptr ? 0 : of_.folds[t]; }
    void read_slot(const AttributeView& attributes, std::int64_t s);
    void compute(std::int64_t id, std::int64_t fold);
    class Piece;

    LabelStatistics of_;
    std::int64_t n_ids_, n_entries_;
    Zeros<Entry> entries_;         // (folds, entries)
    Zeros<Attribute> attributes_;  // (folds, attributes)
    std::mutex writing_;
};

}  // namespace hedgerow
