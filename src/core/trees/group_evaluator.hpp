// Evaluates the nodes of a tree that a group of processes grows together. Each split takes two exchanges: one
// adds up the sums of the smaller side, the other finds the best split of both sides.
#pragma once

#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

#include "trees/group.hpp"
#include "trees/node_evaluator.hpp"

namespace hedgerow {

class GroupEvaluator : public NodeEvaluator {
  public:
    static constexpr std::int64_t kBytesKept = 1 << 24;  // of histograms that a tree keeps, except a few

    GroupEvaluator(const Examples& examples, const Layers& layers, HistogramBuilder& histograms,
                   const GrowthRules& rules, const Group& group);

    void evaluate_root(GrowingNode& root) override;
    void evaluate_sides(GrowingNode& parent, Division& division) override;
    void sum_sides(GrowingNode& parent, Division& division) override;
    void release(GrowingNode& node) override;
    std::int64_t most_kept() const override { return std::numeric_limits<std::int64_t>::max(); }
    void trim_spare() override {}  // there are few, and the first use of memory takes long

  private:
    using Nodes = std::initializer_list<GrowingNode*>;

    void evaluate_nodes(Nodes nodes);
    void evaluate_reduced_root(GrowingNode& root);
    void use(const EntryMap& own);
    void share_usable(bool marked);
    void reduce(const std::vector<Received>& usable);
    void evaluate_position_split(GrowingNode& parent, GrowingNode& small, GrowingNode& large);
    void evaluate_context_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no);
    std::vector<Received> exchange_sums(Nodes nodes);
    std::vector<Message>& start_messages();
    void count_sums(GrowingNode& node, std::vector<Message>& to);
    void write_sums(const GrowingNode& node, const Sums& total, Histogram& local, bool marked,
                    std::vector<Message>& to);
    void read_sums(GrowingNode& node, std::vector<MessageReader>& from) const;
    void read_histogram(std::vector<MessageReader>& from, Histogram& slice, bool marking) const;
    template <class Use>
    void with_histogram(GrowingNode& node, std::vector<MessageReader>& from, Use use);
    void search(const GrowingNode& node, const Histogram& slice, bool marked);
    void exchange_splits(Nodes nodes);
    void read_split(GrowingNode& node, std::vector<MessageReader>& from) const;
    bool is_large(const GrowingNode& node) const;
    bool may_keep(const GrowingNode& node) const;
    std::unique_ptr<Histogram> take();

    const Group& group_;
    GrowthRules rules_;
    PlacesWriter writer_;
    std::vector<std::int32_t> slice_starts_;  // by member: its first place in histograms; and the end
    const EntryMap* own_ = nullptr;           // of the own slice: the group's, or `reduced_`
    EntryMap reduced_;
    Histogram scratch_;  // of the own slice; empty between uses
    std::vector<std::unique_ptr<Histogram>> spare_;
    std::int64_t n_kept_ = 0;  // histograms of nodes
    std::vector<Message> outgoing_;
    Message splits_;  // the best splits of the own slice that were searched for since the last exchange
};

}  // namespace hedgerow
