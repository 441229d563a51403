// Growing trees on what a RowReader reads, one for each label and round, and evaluating them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "../forest.hpp"
#include "../grower.hpp"
#include "../parallel.hpp"
#include "arrays.hpp"
#include "row_reader.hpp"

namespace hedgerow {
namespace {

// The reader's columns laid out for trees; keeps the reader, which owns the arrays.
class BoundTreeData {
  public:
    BoundTreeData(nb::object reader, std::int64_t n_labels, std::int64_t order)
        : reader_(std::move(reader)), n_labels_(n_labels), order_(order) {
        const auto& source = nb::cast<const RowReader&>(reader_);
        require(n_labels >= 2 && order >= 0, "trees need two labels and an order of at least 0");
        require(source.n_positions() < kMostPositions, "trees take fewer than 2^24 positions");
        std::int64_t reach = 0;
        for (const std::int64_t offset : source.offsets()) reach = std::max(reach, std::abs(offset));
        require(source.n_positions() + (source.n_sequences() + 1) * reach < (std::int64_t{1} << 31),
                "positions and padding of all sequences come to more than 2^31");
        data_ = std::make_unique<TreeData>(source.starts(), source.n_sequences(), order, reach);
        data_->columns.reserve(source.n_columns());
        std::int32_t first_id = 0;
        for (std::size_t j = 0; j < source.n_columns(); ++j) {
            data_->add_column(source.column(j), source.n_values(j));
            for (const std::int64_t offset : source.offsets()) {
                data_->add_slot(static_cast<std::int64_t>(j), offset, first_id, source.padded());
                first_id += source.n_values(j) + (source.padded() ? 1 : 0);
            }
        }
        n_ids_ = first_id;
    }

    const TreeData& data() const { return *data_; }
    std::int64_t n_labels() const { return n_labels_; }
    std::int64_t order() const { return order_; }
    std::int64_t n_ids() const { return n_ids_; }
    std::int64_t n_histories() const {
        std::int64_t n = 1;
        for (std::int64_t m = 0; m < order_; ++m) n *= n_labels_;
        return n;
    }

  private:
    nb::object reader_;
    std::int64_t n_labels_, order_, n_ids_ = 0;
    std::unique_ptr<TreeData> data_;
};

using Floats3 = nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void check_shape(const BoundTreeData& bound, const std::size_t* shape) {
    require(shape[0] == static_cast<std::size_t>(bound.data().n_positions) &&
                shape[1] == static_cast<std::size_t>(bound.n_histories()) &&
                shape[2] == static_cast<std::size_t>(bound.n_labels()),
            "scores and marginals are (positions, labels^order, labels)");
}

// The number of the gold history of every position.
std::vector<std::int32_t> gold_histories(const TreeData& data, const std::int32_t* gold, std::int64_t k) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(data.n_positions));
    for (std::int64_t t = 0; t < data.n_positions; ++t) {
        std::int64_t h = 0;
        for (std::int64_t back = 1; back <= data.depth[t]; ++back) h = h * k + gold[t - back];
        numbers[t] = static_cast<std::int32_t>(h);
    }
    return numbers;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
    std::int64_t p = 1;
    for (; exponent > 0; --exponent) p *= base;
    return p;
}

// One round: for each label a tree fitted to gold minus marginals, its values times `step` added to `scores`.
// Returns (starts of the trees, tests and children (nodes, 5), values, gains, counts).
nb::tuple grow_round(const BoundTreeData& bound, const Input<float, 3>& marginals,
                     const Input<std::int32_t, 1>& gold, Floats3 scores,
                     std::optional<Input<double, 1>> weights, double step, double l2, bool newton,
                     double max_step, std::int64_t min_leaf, std::int64_t max_leaves,
                     std::int64_t n_threads) {
    const TreeData& data = bound.data();
    const std::int64_t k = bound.n_labels(), n_histories = bound.n_histories();
    const std::array<std::size_t, 3> given{marginals.shape(0), marginals.shape(1), marginals.shape(2)};
    const std::array<std::size_t, 3> target{scores.shape(0), scores.shape(1), scores.shape(2)};
    check_shape(bound, given.data());
    check_shape(bound, target.data());
    require(gold.shape(0) == given[0], "one gold label for each position");
    for (std::int64_t t = 0; t < data.n_positions; ++t) {
        require(gold.data()[t] >= 0 && gold.data()[t] < k, "gold labels are below n_labels");
    }
    require(!weights || weights->shape(0) == given[0], "one weight for each position");
    require(max_leaves >= 2 && l2 >= 0 && max_step > 0 && min_leaf >= 1 && n_threads >= 1, "growth rules");
    const GrowthRules rules{{l2, newton, max_step, min_leaf,
                             newton    ? 65536.0
                             : weights ? 256.0
                                       : 1.0},
                            max_leaves};
    std::vector<std::vector<TreeNode>> trees(static_cast<std::size_t>(k));
    {
        const nb::gil_scoped_release release;
        const std::vector<std::int32_t> history = gold_histories(data, gold.data(), k);
        parallel_for(k, n_threads, [&] {
            auto grower =
                std::make_shared<Grower>(data, k, bound.order(), rules, weights ? weights->data() : nullptr);
            auto residuals = std::make_shared<std::vector<std::int32_t>>(
                static_cast<std::size_t>(data.n_positions * n_histories));
            return [&, grower, residuals](std::int64_t label) {
                for (std::int64_t t = 0; t < data.n_positions; ++t) {
                    const std::int64_t n = power(k, data.depth[t]);
                    for (std::int64_t h = 0; h < n; ++h) {
                        const double is = gold.data()[t] == label && history[t] == h;
                        const double p = marginals.data()[(t * n_histories + h) * k + label];
                        (*residuals)[t * n_histories + h] =
                            static_cast<std::int32_t>(std::lrint((is - p) * kResidualUnit));
                    }
                }
                trees[label] = grower->grow(residuals->data(), n_histories);
                for (TreeNode& node : trees[label]) node.value *= step;
                float* to = scores.data() + label;
                grower->apply([&](std::int64_t t, std::int64_t h, double value) {
                    to[(t * n_histories + h) * k] += static_cast<float>(value * step);
                });
            };
        });
    }
    std::vector<std::int64_t> starts{0}, counts;
    std::vector<std::int32_t> nodes;
    std::vector<double> values, gains;
    for (const auto& tree : trees) {
        for (const TreeNode& node : tree) {
            nodes.insert(nodes.end(),
                         {node.test.id, node.test.lag, node.test.label, node.if_true, node.if_false});
            values.push_back(node.value);
            gains.push_back(node.gain);
            counts.push_back(node.count);
        }
        starts.push_back(static_cast<std::int64_t>(values.size()));
    }
    return nb::make_tuple(to_array(std::move(starts)), to_array(std::move(nodes)),
                          to_array(std::move(values)), to_array(std::move(gains)),
                          to_array(std::move(counts)));
}

// Adds the values of trees to scores. labels: the label of each tree; starts, nodes, values as grow_round
// gave.
void add_scores(const BoundTreeData& bound, const Input<std::int32_t, 1>& labels,
                const Input<std::int64_t, 1>& starts, const Input<std::int32_t, 2>& nodes,
                const Input<double, 1>& values, Floats3 scores, std::int64_t n_threads) {
    const std::array<std::size_t, 3> shape{scores.shape(0), scores.shape(1), scores.shape(2)};
    check_shape(bound, shape.data());
    const auto n = static_cast<std::int64_t>(values.shape(0)),
               n_trees = static_cast<std::int64_t>(labels.shape(0));
    require(nodes.shape(0) == values.shape(0) && nodes.shape(1) == 5, "five numbers for each node");
    require(starts.shape(0) == labels.shape(0) + 1 && starts.data()[0] == 0 && starts.data()[n_trees] == n,
            "starts rise from 0 to the number of nodes");
    Forest forest(bound.data(), bound.n_labels(), bound.order(), static_cast<std::size_t>(n));
    std::vector<TreeNode> tree;
    for (std::int64_t i = 0; i < n_trees; ++i) {
        const std::int64_t first = starts.data()[i], size = starts.data()[i + 1] - first;
        require(size >= 1 && first + size <= n, "every tree has a node");
        require(labels.data()[i] >= 0 && labels.data()[i] < bound.n_labels(),
                "labels of trees are below n_labels");
        tree.assign(static_cast<std::size_t>(size), {});
        for (std::int64_t j = 0; j < size; ++j) {
            const std::int32_t* row = nodes.data() + 5 * (first + j);
            tree[j].test = {row[0], row[1], row[2]};
            tree[j].value = values.data()[first + j];
            if (tree[j].test.is_leaf()) continue;
            require(row[3] > j && row[3] < size && row[4] > j && row[4] < size,
                    "children come after their parent");
            require(row[0] < bound.n_ids() && row[1] < bound.order() && row[2] <= bound.n_labels(),
                    "tests exist");
            require(row[0] >= 0 || row[2] >= 0, "tests exist");
            tree[j].if_true = row[3];
            tree[j].if_false = row[4];
        }
        forest.add(labels.data()[i], tree.data(), size);
    }
    const nb::gil_scoped_release release;
    parallel_for(bound.n_labels(), n_threads, [&] {
        auto order = std::make_shared<CellOrder>();
        order->fill(bound.data());
        return [&, order](std::int64_t label) { forest.add_scores(label, *order, scores.data()); };
    });
}

}  // namespace

void register_trees(nb::module_& m) {
    nb::class_<BoundTreeData>(m, "TreeData")
        .def(nb::init<nb::object, std::int64_t, std::int64_t>(), nb::arg("reader"), nb::arg("n_labels"),
             nb::arg("order"), "What a RowReader reads, laid out for trees.")
        .def("grow_round", &grow_round, nb::arg("marginals"), nb::arg("gold"), nb::arg("scores"),
             nb::arg("weights").none(), nb::arg("step"), nb::arg("l2"), nb::arg("newton"),
             nb::arg("max_step"), nb::arg("min_leaf"), nb::arg("max_leaves"), nb::arg("n_threads"),
             "One tree for each label; (starts, tests and children, values, gains, counts).")
        .def("add_scores", &add_scores, nb::arg("labels"), nb::arg("starts"), nb::arg("nodes"),
             nb::arg("values"), nb::arg("scores"), nb::arg("n_threads"),
             "Adds the values of trees to (positions, histories, labels).");
}

}  // namespace hedgerow
