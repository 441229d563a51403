// The positions of all nodes of a tree. A split on an attribute divides the positions of a node in place. A
// split on a previous label leaves most positions on both sides, so one side gets a copy: each copy is a
// layer.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "trees/cell_order.hpp"
#include "trees/sums.hpp"

namespace hedgerow {

struct Layer {
    CellOrder order;
    LargeVector<Sums> sums;        // by place in the order: the sums of the position over the node's contexts
    std::vector<float> fractions;  // by place: how much of the position is there; empty if all are whole

    void exchange(std::int64_t i, std::int64_t j) {
        std::swap(sums[i], sums[j]);
        if (!fractions.empty()) std::swap(fractions[i], fractions[j]);
    }
};

// Keeps the memory of layers from tree to tree.
class Layers {
  public:
    void clear() { n_ = 0; }
    std::size_t add() {
        if (n_ == layers_.size()) layers_.emplace_back();
        return n_++;
    }
    Layer& operator[](std::size_t i) { return layers_[i]; }
    const Layer& operator[](std::size_t i) const { return layers_[i]; }

  private:
    std::deque<Layer> layers_;  // so that adding a layer moves no other
    std::size_t n_ = 0;
};

}  // namespace hedgerow
