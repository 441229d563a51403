#include "trees/group.hpp"

#include "trees/histogram_builder.hpp"

namespace hedgerow {
namespace {

// The mean over the positions of all members.
double reads_of_all(const TreeData& data, Exchange& exchange) {
    std::vector<std::int64_t> reads{n_reads(data)};
    sum_over_members(exchange, reads);
    return static_cast<double>(reads[0]) / static_cast<double>(data.n_all_positions);
}

}  // namespace

GroupLayout::GroupLayout(const TreeData& data, Exchange& exchange)
    : rank(exchange.rank()),
      slices(data, exchange.size()),
      map(data, slices.first_slot(rank), slices.end_slot(rank)),
      reads(reads_of_all(data, exchange)) {}

}  // namespace hedgerow
