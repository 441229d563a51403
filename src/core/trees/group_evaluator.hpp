// Evaluates the nodes of a tree that a group of processes grows together. Each split takes two exchanges: one
// adds up the sums of the smaller side, the other finds the best split of both sides.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "trees/group.hpp"
#include "trees/node_evaluator.hpp"

namespace hedgerow {

class GroupEvaluator : public NodeEvaluator {
  public:
    GroupEvaluator(const Examples& examples, const Layers& layers, HistogramBuilder& histograms,
                   const GrowthRules& rules, const Group& group);

    void evaluate_root(GrowingNode& root) override;
    void evaluate_sides(GrowingNode& parent, Division& division) override;
    void sum_sides(GrowingNode& parent, Division& division) override;
    void release(GrowingNode& node) override;
    void trim_spare() override;

  private:
    using Nodes = std::initializer_list<GrowingNode*>;

    void evaluate_nodes(Nodes nodes);
    void evaluate_position_split(GrowingNode& parent, GrowingNode& small, GrowingNode& large);
    void evaluate_context_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no);
    std::vector<Message> exchange_sums(Nodes nodes);
    void write_sums(GrowingNode& node, std::vector<Message>& to);
    void read_sums(GrowingNode& node, std::vector<MessageReader>& from) const;
    void read_histogram(std::vector<MessageReader>& from, Histogram& slice, bool marking) const;
    template <class Use>
    void with_histogram(GrowingNode& node, std::vector<MessageReader>& from, Use use);
    void search(const GrowingNode& node, const Histogram& slice, bool marked);
    void exchange_splits(Nodes nodes);
    void read_split(GrowingNode& node, std::vector<MessageReader>& from) const;
    bool is_large(const GrowingNode& node) const;
    std::unique_ptr<Histogram> take();

    const Group& group_;
    EntrySlices slices_;
    Histogram scratch_;  // of the own slice; empty between uses
    std::vector<std::unique_ptr<Histogram>> spare_;
    Message splits_;  // the best splits of the own slice that were searched for since the last exchange
};

}  // namespace hedgerow
