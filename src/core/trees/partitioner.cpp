#include "trees/partitioner.hpp"

#include "trees/directed_partitioner.hpp"
#include "trees/fractional_partitioner.hpp"
#include "trees/surrogate_partitioner.hpp"

namespace hedgerow {

std::unique_ptr<Partitioner> make_partitioner(const Examples& examples, Layers& layers,
                                              HistogramBuilder& histograms, const GrowthRules& rules,
                                              const Group* group) {
    const TreeData& data = examples.data;
    if (splits_positions(data, rules.missing))
        return std::make_unique<FractionalPartitioner>(examples, layers, rules.missing, group);
    if (uses_surrogates(rules.missing))
        return std::make_unique<SurrogatePartitioner>(examples, layers, histograms, rules.missing, group);
    return std::make_unique<DirectedPartitioner>(data, layers, rules);
}

}  // namespace hedgerow
