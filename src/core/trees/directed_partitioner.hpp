// Missing values all go to one side, which the gain decided. Also for data without missing values.
#pragma once

#include "trees/growth_rules.hpp"
#include "trees/partitioner.hpp"

namespace hedgerow {

class DirectedPartitioner : public Partitioner {
  public:
    DirectedPartitioner(const TreeData& data, Layers& layers, const GrowthRules& rules)
        : data_(data), layers_(layers), learns_(rules.missing == Missing::learned) {}

    Division divide(const GrowingNode& parent) override;

  private:
    const TreeData& data_;
    Layers& layers_;
    bool learns_;
};

}  // namespace hedgerow
