#include "trees/label_context_partitioner.hpp"

#include <memory>

#include "trees/fractional_partitioner.hpp"

namespace hedgerow {
namespace {

std::int64_t size_of(const std::vector<std::int32_t>& members) {
    return static_cast<std::int64_t>(members.size());
}

}  // namespace

Division LabelContextPartitioner::divide(const GrowingNode& parent) {
    const Test& test = parent.best;
    const LabelContextSet& set = parent.contexts->set;
    const bool newton = examples_.objective.newton;
    const std::size_t number = layers_.add();
    const Layer& from = layers_[parent.layer];
    Layer& to = layers_[number];
    const std::int64_t n = parent.counted.size();
    to.order.cells.resize(static_cast<std::size_t>(n));
    to.order.indexed = from.order.indexed;
    to.order.where.resize(examples_.data.position.size());
    to.sums.resize(static_cast<std::size_t>(n));
    if (splits_positions_) to.fractions.resize(static_cast<std::size_t>(n));
    Division division;
    GrowingNode &yes = division.if_true, &no = division.if_false;
    yes = Partitioner::side(parent, {0, n});
    no = Partitioner::side(parent, parent.counted);
    yes.layer = number;
    yes.contexts = std::make_shared<NodeContexts>(set.only(test.lag, test.label, test.alternatives),
                                                  examples_.order, newton);
    no.contexts = std::make_shared<NodeContexts>(set.without(test.lag, test.label, test.alternatives),
                                                 examples_.order, newton);
    yes.has_fractions = no.has_fractions = parent.has_fractions;
    load_children(yes, no);
    for (GrowingNode* child : {&yes, &no}) {
        if (splits_positions_)
            child->n_examples = FractionalPartitioner::count_examples(examples_, layers_[child->layer],
                                                                      *child->contexts, child->counted);
    }
    return division;
}

// The sums of each position over the label contexts of either side.
void LabelContextPartitioner::load_children(GrowingNode& yes, GrowingNode& no) {
    if (examples_.leaves_out) return load_kept(yes, no);
    const auto &in = yes.contexts->members, &out = no.contexts->members;
    if (examples_.is_additive() && !yes.has_fractions && examples_.order == 1 && size_of(in[1]) == 1)
        return load_single_label(yes, no);
    const auto over = [&](const std::vector<std::int32_t>& members, std::int32_t c) {
        std::int64_t residual = 0;
        for (const std::int32_t h : members) residual += examples_.row(c)[h];
        return residual;
    };
    if (yes.has_fractions) {
        return distribute(yes, no,
                          [&](std::int32_t c, std::int64_t depth, const Sums& both, double fraction,
                              Sums& to_yes, Sums& to_no) {
                              const std::int64_t counted = examples_.objective.count(both);
                              to_yes = examples_.position_sums(over(in[depth], c), size_of(in[depth]), c,
                                                               fraction, counted);
                              to_no = examples_.position_sums(over(out[depth], c), size_of(out[depth]), c,
                                                              fraction, counted);
                          });
    }
    const bool weighted = examples_.weights != nullptr;  // then `both` has a weighted residual
    distribute(yes, no,
               [&](std::int32_t c, std::int64_t depth, const Sums& both, double, Sums& to_yes, Sums& to_no) {
                   const std::int64_t residual = over(in[depth], c), rest = both.residual - residual;
                   to_yes = examples_.position_sums(residual, size_of(in[depth]), c);
                   to_no =
                       examples_.position_sums(weighted ? over(out[depth], c) : rest, size_of(out[depth]), c);
               });
}

// The most frequent case, without a loop or a branch: additive sums, order 1, one label.
void LabelContextPartitioner::load_single_label(GrowingNode& yes, GrowingNode& no) {
    const auto &in = yes.contexts->members, &out = no.contexts->members;
    const std::int64_t n_in[] = {size_of(in[0]), 1}, n_out[] = {size_of(out[0]), size_of(out[1])};
    distribute(yes, no,
               [&, label = in[1][0], all = examples_.residuals, width = examples_.width,
                unit = examples_.example_weight(), one = examples_.objective.packing.one()](
                   std::int32_t c, std::int64_t depth, const Sums& both, double, Sums& to_yes, Sums& to_no) {
                   const std::int64_t rest = both.residual;
                   const std::int64_t residual = n_in[depth] * all[c * width + depth * label];
                   to_yes.set(residual, one + n_in[depth] * unit);
                   to_no.set(rest - residual, one + n_out[depth] * unit);
               });
}

// Where examples are left out, a side has the positions of which it has an example.
void LabelContextPartitioner::load_kept(GrowingNode& yes, GrowingNode& no) {
    const auto &in = yes.contexts->members, &out = no.contexts->members;
    const bool in_parts = yes.has_fractions;
    distribute_to(
        yes, no,
        [&](std::int32_t c, std::int64_t depth, const Sums& both, double fraction, Sums& to_yes,
            Sums& to_no) -> Sides {
            const std::int64_t counted = examples_.objective.count(both);
            const auto sums = [&](const KeptSums& kept) {
                return in_parts ? examples_.position_sums(kept.residual, kept.n, c, fraction, counted)
                                : examples_.position_sums(kept.residual, kept.n, c);
            };
            const KeptSums of_yes = examples_.kept(in[depth], c), of_no = examples_.kept(out[depth], c);
            to_yes = sums(of_yes);
            to_no = sums(of_no);
            return {of_yes.n > 0, of_no.n > 0};
        });
}

// load(cell, depth, sums before, fraction, yes, no) writes the sums of a position on both sides; `no` may be
// the same memory as the sums before. The sums of a side without an example are written too and overwritten
// by the next position: that is faster than a branch.
template <class Load>
void LabelContextPartitioner::distribute(GrowingNode& yes, GrowingNode& no, Load load) {
    distribute_to(yes, no,
                  [load, yes_has = yes.contexts->has.data(), no_has = no.contexts->has.data()](
                      std::int32_t c, std::int64_t depth, const Sums& both, double fraction, Sums& to_yes,
                      Sums& to_no) -> Sides {
                      load(c, depth, both, fraction, to_yes, to_no);
                      return {yes_has[depth], no_has[depth]};
                  });
}

// The same where load() returns which sides have an example of the position.
template <class Load>
void LabelContextPartitioner::distribute_to(GrowingNode& yes, GrowingNode& no, Load load) {
    Layer &to_yes = layers_[yes.layer], &to_no = layers_[no.layer];
    std::int32_t *yes_cells = to_yes.order.cells.data(), *yes_where = to_yes.order.where.data();
    Sums *yes_sums = to_yes.sums.data(), *no_sums = to_no.sums.data();
    float *yes_fractions = to_yes.fractions.data(), *no_fractions = to_no.fractions.data();
    const std::uint8_t* depths = examples_.data.depth_at.data();
    const std::int64_t end = no.counted.end;
    const bool indexed = to_yes.order.indexed;
    std::int64_t i = 0, j = no.counted.begin;
    for (std::int64_t at = j; at < end; ++at) {
        const std::int32_t c = to_no.order.cells[at];
        const float fraction = splits_positions_ ? no_fractions[at] : 1.0f;
        const Sides has = load(c, depths[c], no_sums[at], fraction, yes_sums[i], no_sums[j]);
        if (splits_positions_) yes_fractions[i] = no_fractions[j] = fraction;
        yes_cells[i] = c;
        if (indexed) yes_where[c] = static_cast<std::int32_t>(i);
        if (j != at) to_no.order.place(j, c);
        i += has.yes;
        j += has.no;
    }
    yes.counted.end = i;
    no.counted.end = j;
}

}  // namespace hedgerow
