// Evaluates the nodes of a tree that grows on the positions of this process alone.
#pragma once

#include "trees/node_evaluator.hpp"

namespace hedgerow {

class LocalEvaluator : public NodeEvaluator {
  public:
    using NodeEvaluator::NodeEvaluator;

    void evaluate_root(GrowingNode& root) override;
    void evaluate_sides(GrowingNode& parent, Division& division) override;
    void sum_sides(GrowingNode& parent, Division& division) override;
    void release(GrowingNode& node) override;
    std::int64_t most_kept() const override;
    void trim_spare() override { histograms_.trim_spare(); }

  private:
    void evaluate_node(GrowingNode& node);
    void evaluate_histogram(GrowingNode& node);
    void evaluate_anew(GrowingNode& parent, GrowingNode& yes, GrowingNode& no);
    void evaluate_position_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no);
    void evaluate_context_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no);
    void count(const GrowingNode& node, Histogram& histogram, bool marking);
    void find_best(GrowingNode& node, const Histogram& histogram, bool marked);
};

}  // namespace hedgerow
