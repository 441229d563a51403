// Memory for rows of weights of which few differ from 0: a row is a block of cells, one for each label whose
// weight has changed, in the order of the first changes.
//
// A block has room for a power of two of cells. Blocks lie in large chunks that never move, and blocks that
// rows have outgrown are used again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "linear/row_view.hpp"

namespace hedgerow {

class SparseRows {
  public:
    static constexpr std::int64_t kFirstRoom = 2;  // an update changes the weights of gold and another label

    // longest: no row has more cells than this.
    SparseRows(std::int64_t longest, bool summed)
        : chunk_bits_(std::max(15, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest))))),
          summed_(summed),
          used_(std::int64_t{1} << chunk_bits_) {}

    SparseRows(SparseRows&&) = default;
    SparseRows& operator=(SparseRows&&) = default;

    // The room of a row of n cells.
    static std::int64_t room(std::int64_t n) {
        return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(n, kFirstRoom))));
    }

    LabelWeight* cells(std::int32_t block) const {
        return cells_[block >> chunk_bits_].get() + (block & mask());
    }
    // Null without sums.
    double* sums(std::int32_t block) const {
        return summed_ ? sums_[block >> chunk_bits_].get() + (block & mask()) : nullptr;
    }

    // A block for `room` cells, which must be a power of two.
    std::int32_t allocate(std::int64_t room) {
        std::int32_t& first = free_[std::countr_zero(static_cast<std::uint64_t>(room))];
        if (first >= 0) return std::exchange(first, cells(first)->label);
        if (used_ + room > std::int64_t{1} << chunk_bits_) add_chunk();
        const std::int64_t block = ((static_cast<std::int64_t>(cells_.size()) - 1) << chunk_bits_) + used_;
        used_ += room;
        return static_cast<std::int32_t>(block);
    }
    void free(std::int32_t block, std::int64_t room) {
        cells(block)->label = std::exchange(free_[std::countr_zero(static_cast<std::uint64_t>(room))], block);
    }

  private:
    std::int32_t mask() const { return (std::int32_t{1} << chunk_bits_) - 1; }
    void add_chunk() {
        const auto size = std::size_t{1} << chunk_bits_;
        if ((cells_.size() + 1) << chunk_bits_ > std::size_t{std::numeric_limits<std::int32_t>::max()})
            throw std::bad_alloc();
        cells_.push_back(std::make_unique_for_overwrite<LabelWeight[]>(size));
        if (summed_) sums_.push_back(std::make_unique_for_overwrite<double[]>(size));
        used_ = 0;
    }

    int chunk_bits_;
    bool summed_;
    std::int64_t used_;  // cells of the last chunk
    std::vector<std::unique_ptr<LabelWeight[]>> cells_;
    std::vector<std::unique_ptr<double[]>> sums_;
    std::vector<std::int32_t> free_ = std::vector<std::int32_t>(32, -1);  // by log2(room): a list of blocks
};

}  // namespace hedgerow
