#include "trees/group.hpp"

#include "trees/histogram_builder.hpp"

namespace hedgerow {

GroupLayout::GroupLayout(const TreeData& data, Exchange& exchange)
    : rank(exchange.rank()),
      slices(data, exchange.size()),
      map(data, slices.first_slot(rank), slices.end_slot(rank)) {
    std::vector<std::int64_t> of_all{n_reads(data), data.lists_entries()};
    sum_over_members(exchange, of_all);
    reads = static_cast<double>(of_all[0]) / static_cast<double>(data.n_all_positions);
    lists_entries = of_all[1] > 0;
}

}  // namespace hedgerow
