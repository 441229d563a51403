#include "linear/attribute_weights.hpp"

#include <algorithm>

#include "util/ordered_sum.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

// Several passes, each of which prefetches what the next one reads: attributes, row numbers, rows.
void AttributeWeights::score(const Slots& slots, std::int64_t first, std::int64_t last, std::int64_t begin,
                             std::int64_t end, float* scores, Buffers& buffers) const {
    std::fill_n(scores, (last - first) * weights_.n_labels(), 0.0f);
    auto& reads = buffers.reads;
    reads.clear();
    buffers.ends.clear();
    for (std::int64_t t = first; t < last; ++t) {
        for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
            prefetch(&row_of_[id]);
            Buffers::Read& read = reads.push();
            read.id = id;
            read.value = value;
        });
        buffers.ends.push_back(reads.size());
    }
    weights_.all_dense() ? add_dense_rows(scores, buffers) : add_mixed_rows(scores, buffers);
}

void AttributeWeights::add_dense_rows(float* scores, Buffers& buffers) const {
    const std::int64_t k = weights_.n_labels();
    auto& rows = buffers.rows;
    rows.clear();
    const Buffers::Read* read = buffers.reads.begin();
    for (std::int64_t& stop : buffers.ends) {
        for (; read < buffers.reads.begin() + stop; ++read) {
            const std::int32_t row = row_of_[read->id];
            if (row < 0) continue;
            WeightedRow& added = rows.push();
            added.row = weights_.values(row);
            added.weight = read->value;
            prefetch(added.row);
            prefetch(added.row + k - 1);
        }
        stop = rows.size();
    }
    const auto add_rows = linear_kernels().add_rows;
    std::int64_t from = 0;
    for (const std::int64_t stop : buffers.ends) {
        if (stop > from) add_rows(rows.begin() + from, stop - from, k, scores);
        scores += k;
        from = stop;
    }
}

double AttributeWeights::squared_size(std::int64_t n_threads) const {
    return OrderedSum(n_rows_, n_threads).sum([&](std::int64_t begin, std::int64_t end) {
        double sum = 0;
        for (std::int64_t row = begin; row < end; ++row) {
            const RowView view = weights_.view(row);
            for (std::int64_t i = 0; i < view.n; ++i) {
                const auto weight = static_cast<double>(view.dense ? view.dense[i] : view.cells[i].weight);
                sum += weight * weight;
            }
        }
        return sum;
    });
}

// Adds rows in the order of the attributes, so that sums round as if all rows were dense.
void AttributeWeights::add_mixed_rows(float* scores, Buffers& buffers) const {
    const std::int64_t k = weights_.n_labels();
    auto& rows = buffers.mixed_rows;
    rows.clear();
    const Buffers::Read* read = buffers.reads.begin();
    for (std::int64_t& stop : buffers.ends) {
        for (; read < buffers.reads.begin() + stop; ++read) {
            const std::int32_t row = row_of_[read->id];
            if (row < 0) continue;
            weights_.prefetch_row(row);
            Buffers::MixedRow& added = rows.push();
            added.row = row;
            added.weight = read->value;
        }
        stop = rows.size();
    }
    const LinearKernels& kernels = linear_kernels();
    std::int64_t ahead = 0, i = 0;
    const auto look_up = [&] {
        Buffers::MixedRow& row = rows[ahead++];
        row.view = weights_.view(row.row);
        if (row.view.cells) prefetch(row.view.cells);
    };
    for (const std::int64_t stop : buffers.ends) {
        for (; i < stop; ++i) {
            while (ahead < rows.size() && ahead <= i + kAhead) look_up();
            const Buffers::MixedRow& row = rows[i];
            if (row.view.dense) {
                const WeightedRow dense{row.view.dense, row.weight};
                kernels.add_rows(&dense, 1, k, scores);
            } else {
                kernels.add_cells(row.view.cells, row.view.n, row.weight, scores);
            }
        }
        scores += k;
    }
}

}  // namespace hedgerow
