// Residuals of a block of labels, one label after the other: (labels, cells, label contexts). Marginals and
// scores are (positions, label contexts, labels), so a tree for one label would read them with long strides.
// Labels go by blocks to bound memory.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/tree_data.hpp"
#include "util/large_vector.hpp"

namespace hedgerow {

class TransposedResiduals {
  public:
    TransposedResiduals(const TreeData& data, std::int64_t n_labels);

    std::int64_t n_contexts() const { return n_contexts_; }  // K^order
    std::int64_t width() const { return width_; }            // of a row: n_contexts() rounded up for vectors

    std::int64_t bytes_of_label() const { return 4 * size_of_label(); }
    // How many labels fit into so many bytes.
    std::int64_t n_labels_of(std::int64_t bytes) const { return bytes / bytes_of_label(); }

    // Computes gold - marginals in units of 2^-30 for the given labels. IN: marginals (positions, label
    // contexts, labels), gold labels by position.
    void load(const float* marginals, const std::int32_t* gold, std::vector<std::int64_t> labels,
              std::int64_t n_threads);

    // The residuals of the i-th label of the block: (cells, width). A grower replaces them by the bits of
    // floats.
    std::int32_t* of_label(std::int64_t i) { return residuals_.data() + i * size_of_label(); }

    // Adds the floats that replaced the residuals to scores (positions, label contexts, labels).
    void add_to(float* scores, std::int64_t n_threads) const;

  private:
    std::int64_t size_of_label() const { return data_.n_cells() * width_; }
    void transpose(const std::int32_t* tile, std::int64_t begin, std::int64_t end);
    void add_gold(const std::int32_t* gold, std::int64_t begin, std::int64_t end);
    template <class MakeVisit>
    void by_tiles(std::int64_t n_threads, MakeVisit make_visit) const;
    template <class Visit>
    void with_sizes(Visit visit) const;

    const TreeData& data_;
    std::int64_t k_, n_contexts_, width_;
    std::vector<std::int64_t> n_contexts_of_;  // by depth
    std::vector<std::int64_t> labels_;         // of the block
    std::vector<std::int64_t> place_of_;       // by label: its number in the block, or -1
    LargeVector<std::int32_t> residuals_;
};

}  // namespace hedgerow
