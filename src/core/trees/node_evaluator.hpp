// Sums, histograms and best splits of the nodes of a growing tree.
#pragma once

#include <cstdint>

#include "trees/examples.hpp"
#include "trees/growing_node.hpp"
#include "trees/growth_rules.hpp"
#include "trees/growth_times.hpp"
#include "trees/histogram_builder.hpp"
#include "trees/label_context_splitter.hpp"
#include "trees/label_context_sums.hpp"
#include "trees/layers.hpp"
#include "trees/splitter.hpp"

namespace hedgerow {

class NodeEvaluator {
  public:
    NodeEvaluator(const Examples& examples, const Layers& layers, HistogramBuilder& histograms,
                  const GrowthRules& rules);
    NodeEvaluator(const NodeEvaluator&) = delete;
    NodeEvaluator& operator=(const NodeEvaluator&) = delete;
    virtual ~NodeEvaluator() = default;

    // `seed` draws the tests of the tree where max_features is below 1.
    void start_tree(std::uint64_t seed) { seed_ = seed; }
    virtual void evaluate_root(GrowingNode& root) = 0;
    // The two sides of a split, which uses up what the parent has.
    virtual void evaluate_sides(GrowingNode& parent, Division& division) = 0;
    // Totals of two sides that are not split further.
    virtual void sum_sides(GrowingNode& parent, Division& division) = 0;
    // Takes back the memory of a node.
    virtual void release(GrowingNode& node) = 0;
    // How many nodes may keep their histogram, to bound memory.
    virtual std::int64_t most_kept() const = 0;
    // Frees most of the memory that was taken back.
    virtual void trim_spare() = 0;

    // Measures the phases of later trees; null: measures nothing.
    void measure(GrowthTimes* times) { times_ = times; }

  protected:
    // The sum over the positions of a node.
    Sums sum_of(const GrowingNode& node) const;
    Split best_attribute(const GrowingNode& node, const Histogram& histogram, bool marked);
    void set_attribute(GrowingNode& node, Split split) const;
    // Whether the sums of `no` are those of the parent minus those of `yes` after a split on a previous
    // label.
    bool contexts_subtract(const GrowingNode& parent) const;
    // The sums of `no` after such a split: those of the parent minus those of `yes`, in place. Counts stay
    // where positions are on both sides.
    class ContextSubtraction {
      public:
        ContextSubtraction(const Examples& examples, const Test& test, const GrowingNode& no);
        void operator()(Sums& parent, const Sums& yes) const;

      private:
        bool on_both_sides_;
        Packing packing_;
    };
    PositionRange positions(const GrowingNode& node, const Sums& total) const {
        return {layers_[node.layer], node.counted, total};
    }
    double* phase(double GrowthTimes::* which) const { return times_ ? &(times_->*which) : nullptr; }

    const Examples& examples_;
    const TreeData& data_;
    const Layers& layers_;
    HistogramBuilder& histograms_;
    Splitter splitter_;
    LabelContextSums label_sums_;
    LabelContextSplitter label_splitter_;
    GrowthTimes* times_ = nullptr;
    std::uint64_t seed_ = 0;
};

}  // namespace hedgerow
