// Growing trees on the attributes of an AttributeReader, and evaluating them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/exchange.hpp"
#include "trees/forest.hpp"
#include "trees/growth_rules.hpp"
#include "trees/round_grower.hpp"
#include "trees/tree_data.hpp"
#include "trees/tree_records.hpp"

namespace hedgerow {
namespace {

constexpr std::array<std::pair<const char*, Missing>, 5> kNamesOfMissing{{
    {"weighting", Missing::weighting},
    {"published-weighting", Missing::published_weighting},
    {"surrogate", Missing::surrogate},
    {"published-surrogate", Missing::published_surrogate},
    {"learned", Missing::learned},
}};

Missing missing_of(const std::string& name) {
    for (const auto& [known, missing] : kNamesOfMissing) {
        if (name == known) return missing;
    }
    throw std::invalid_argument(
        "missing must be weighting, surrogate, learned, or published- and one of the first two");
}

const char* name_of(Missing missing) {
    for (const auto& [name, known] : kNamesOfMissing) {
        if (missing == known) return name;
    }
    return "";
}

CategorySplits category_splits_of(const std::string& name) {
    if (name == "one-hot") return CategorySplits::one_hot;
    require(name == "subset", "category_splits must be one-hot or subset");
    return CategorySplits::subset;
}

TrimBy trim_by_of(const std::string& name) {
    if (name == "position") return TrimBy::position;
    require(name == "example", "trim_by must be position or example");
    return TrimBy::example;
}

const char* name_of(TrimBy trim_by) {
    return trim_by == TrimBy::example ? "example" : "position";
}

const char* name_of(CategorySplits splits) {
    return splits == CategorySplits::subset ? "subset" : "one-hot";
}

GrowthRules growth_rules(double l2, bool newton, double max_step, std::int64_t min_leaf,
                         std::int64_t max_leaves, double influence_trim, const std::string& trim_by,
                         double example_share, const std::string& category_splits, double max_features,
                         const std::string& missing) {
    require(l2 >= 0, "l2 must be at least 0");
    require(max_step > 0, "max_step must be more than 0");
    require(min_leaf >= 1, "min_leaf must be at least 1");
    require(max_leaves >= 2, "max_leaves must be at least 2");
    require(influence_trim >= 0, "influence_trim must be at least 0");
    require(example_share > 0 && example_share <= 1, "example_share must be above 0 and at most 1");
    require(max_features > 0, "max_features must be more than 0");
    return {.l2 = l2,
            .newton = newton,
            .max_step = max_step,
            .min_leaf = min_leaf,
            .max_leaves = max_leaves,
            .influence_trim = influence_trim,
            .trim_by = trim_by_of(trim_by),
            .example_share = example_share,
            .category_splits = category_splits_of(category_splits),
            .max_features = max_features,
            .missing = missing_of(missing)};
}

std::shared_ptr<TreeData> tree_data(const AttributeReader& reader, std::int64_t order,
                                    const GrowthRules& rules, std::int64_t n_threads,
                                    const nb::object& exchange) {
    require(order >= 0, "the order of trees is at least 0");
    require(n_threads >= 1, "there must be at least one thread");
    std::vector<ColumnSource> columns;
    for (std::size_t j = 0; j < reader.n_columns(); ++j)
        columns.push_back({reader.column(j), reader.n_values(j), reader.offsets(j), reader.padded(j)});
    const std::shared_ptr<Exchange> group = exchange_of(exchange);
    const nb::gil_scoped_release release;
    return std::make_shared<TreeData>(reader.starts(), reader.n_sequences(), order, rules.min_value_count(),
                                      columns, n_threads, group.get());
}

// Records as bytes, which Python views as its dtype.
Array<std::uint8_t, 1> to_bytes(const std::vector<NodeRecord>& records) {
    const Output<std::uint8_t, 1> bytes({records.size() * sizeof(NodeRecord)});
    if (!records.empty()) std::memcpy(bytes.data(), records.data(), records.size() * sizeof(NodeRecord));
    return bytes.array();
}

nb::tuple to_arrays(TreeRecords&& trees) {
    return nb::make_tuple(to_array(std::move(trees.starts)), to_bytes(trees.nodes),
                          to_array(std::move(trees.values)), to_array(std::move(trees.alternatives)),
                          to_array(std::move(trees.surrogates)));
}

class TreeGrower {
  public:
    TreeGrower(const std::shared_ptr<TreeData>& data, std::int64_t n_labels, const GrowthRules& rules,
               std::optional<Input<double, 1>> weights, const nb::object& exchange)
        : exchange_(exchange_of(exchange)),
          grower_(data, checked_labels(n_labels, *data, rules), rules, weights_of(*data, weights),
                  exchange_) {}

    bool adds_scores(bool samples) const { return grower_.adds_scores(samples); }

    void measure() { grower_.measure(); }
    nb::dict times() const {
        const GrowthTimes times = grower_.times();
        nb::dict seconds;
        seconds["select"] = times.select;
        seconds["histogram"] = times.histogram;
        seconds["scan"] = times.scan;
        seconds["partition"] = times.partition;
        seconds["values"] = times.values;
        return seconds;
    }
    std::int64_t n_counted() const { return grower_.n_counted(); }

    nb::tuple grow(const Input<float, 3>& marginals, const Input<std::int32_t, 1>& gold,
                   InOut<float, 3> scores, std::optional<Input<std::uint8_t, 1>> in_sample, double step,
                   std::uint64_t seed, std::int64_t n_threads) {
        check(marginals, gold, scores, in_sample, n_threads);
        TreeRecords trees;
        {
            const nb::gil_scoped_release release;
            trees = grower_.grow({marginals.data(), gold.data(), scores.data(),
                                  in_sample ? in_sample->data() : nullptr, step, seed, n_threads});
        }
        return to_arrays(std::move(trees));
    }

    nb::tuple grow_shared(const Input<float, 3>& marginals, const Input<std::int32_t, 1>& gold,
                          InOut<float, 3> scores, std::optional<Input<std::uint8_t, 1>> in_sample,
                          double step, std::uint64_t seed, std::int64_t n_threads) {
        require(grower_.data().order == 0, "a tree for all labels does not test previous ones");
        require(!grower_.rules().uses_subsets(), "a tree for all labels does not split categories into sets");
        require(!grower_.data().has_missing(), "a tree for all labels takes no missing values");
        require(!grower_.rules().leaves_out_examples(), "a tree for all labels counts whole positions");
        check(marginals, gold, scores, in_sample, n_threads);
        TreeRecords trees;
        {
            const nb::gil_scoped_release release;
            trees = grower_.grow_shared({marginals.data(), gold.data(), scores.data(),
                                         in_sample ? in_sample->data() : nullptr, step, seed, n_threads});
        }
        return to_arrays(std::move(trees));
    }

    nb::tuple fit(const Input<double, 1>& targets, const Input<double, 1>& weights, std::uint64_t seed) {
        const auto n = static_cast<std::size_t>(grower_.data().n_positions);
        const GrowthRules& rules = grower_.rules();
        require(grower_.data().order == 0 && !rules.newton && rules.influence_trim == 0 &&
                    !rules.leaves_out_examples(),
                "a tree is fitted to targets of order 0, by its own weights alone");
        require(targets.shape(0) == n && weights.shape(0) == n, "a target and a weight for each position");
        for (std::size_t t = 0; t < n; ++t) {
            require(std::isfinite(targets.data()[t]) && std::isfinite(weights.data()[t]) &&
                        weights.data()[t] >= 0,
                    "targets are finite, and weights are finite and not below 0");
        }
        const Output<float, 1> values({n});
        TreeRecords trees;
        {
            const nb::gil_scoped_release release;
            trees = grower_.fit(targets.data(), weights.data(), seed, values.data());
        }
        return nb::make_tuple(to_arrays(std::move(trees)), values.array());
    }

  private:
    static std::int64_t checked_labels(std::int64_t n_labels, const TreeData& data,
                                       const GrowthRules& rules) {
        require(n_labels >= 2, "trees need two labels");
        require(data.min_count == rules.min_value_count(),
                "tree data must be built with the min_leaf and category_splits of the growth rules");
        return n_labels;
    }

    static std::vector<double> weights_of(const TreeData& data,
                                          const std::optional<Input<double, 1>>& weights) {
        if (!weights) return {};
        require(weights->shape(0) == static_cast<std::size_t>(data.n_positions),
                "one weight for each position");
        return {weights->data(), weights->data() + weights->shape(0)};
    }

    void check(const Input<float, 3>& marginals, const Input<std::int32_t, 1>& gold,
               const InOut<float, 3>& scores, const std::optional<Input<std::uint8_t, 1>>& in_sample,
               std::int64_t n_threads) const {
        const std::int64_t n = grower_.data().n_positions;
        require(has_shape(marginals) && has_shape(scores),
                "scores and marginals are (positions, labels^order, labels)");
        require(gold.shape(0) == static_cast<std::size_t>(n), "one gold label for each position");
        std::uint32_t highest = 0;  // a negative label becomes a high one
        for (std::int64_t t = 0; t < n; ++t)
            highest = std::max(highest, static_cast<std::uint32_t>(gold.data()[t]));
        require(highest < grower_.n_labels(), "gold labels are below n_labels");
        require(!in_sample || in_sample->shape(0) == static_cast<std::size_t>(n),
                "a sample has one flag for each position");
        require(n_threads >= 1, "at least one thread");
    }

    template <class Array>
    bool has_shape(const Array& array) const {
        return array.shape(0) == static_cast<std::size_t>(grower_.data().n_positions) &&
               array.shape(1) == static_cast<std::size_t>(grower_.n_contexts()) &&
               array.shape(2) == static_cast<std::size_t>(grower_.n_labels());
    }

    std::shared_ptr<Exchange> exchange_;  // null if this process grows trees alone
    RoundGrower grower_;
};

// A forest with the layout of the reader that it was made for.
class BoundForest {
  public:
    BoundForest(const AttributeReader& reader, std::int64_t n_labels, std::int64_t order,
                const Input<std::int32_t, 1>& labels, const Input<std::int64_t, 1>& starts,
                const Input<std::uint8_t, 2>& nodes, const Input<float, 2>& values,
                const Input<std::int32_t, 1>& alternatives, const Input<std::int32_t, 1>& surrogates)
        : forest_(reader.view(), n_labels, order, values.shape(1) != 1) {
        require(nodes.shape(0) == values.shape(0) && nodes.shape(1) == sizeof(NodeRecord),
                "one record and one row of values for each node");
        require(starts.shape(0) == labels.shape(0) + 1, "a start for each tree, and the end");
        const auto size = [](const auto& array, std::size_t axis) {
            return static_cast<std::int64_t>(array.shape(axis));
        };
        forest_.compile({.n_trees = size(labels, 0),
                         .n_nodes = size(nodes, 0),
                         .n_outputs = size(values, 1),
                         .n_alternatives = size(alternatives, 0),
                         .n_surrogates = size(surrogates, 0),
                         .labels = labels.data(),
                         .starts = starts.data(),
                         .nodes = nodes.data(),
                         .values = values.data(),
                         .alternatives = alternatives.data(),
                         .surrogates = surrogates.data()});
    }

    // Adds the values of all trees to scores (positions, label contexts, labels).
    void add_scores(const AttributeReader& reader, InOut<float, 3> scores, std::int64_t n_threads) const {
        require(forest_.reads(reader.view()), "a forest reads columns like those it was made for");
        require(scores.shape(0) == static_cast<std::size_t>(reader.n_positions()) &&
                    scores.shape(1) == static_cast<std::size_t>(forest_.n_contexts()) &&
                    scores.shape(2) == static_cast<std::size_t>(forest_.n_labels()),
                "scores are (positions, labels^order, labels)");
        require(n_threads >= 1, "at least one thread");
        const nb::gil_scoped_release release;
        forest_.add_scores(reader.view(), scores.data(), n_threads);
    }

  private:
    Forest forest_;
};

}  // namespace

void register_trees(nb::module_& m) {
    const GrowthRules defaults;
    nb::class_<GrowthRules>(m, "GrowthRules", "How trees grow; see growth_rules.hpp.")
        .def(
            "__init__",
            [](GrowthRules* self, double l2, bool newton, double max_step, std::int64_t min_leaf,
               std::int64_t max_leaves, double influence_trim, const std::string& trim_by,
               double example_share, const std::string& category_splits, double max_features,
               const std::string& missing) {
                new (self)
                    GrowthRules(growth_rules(l2, newton, max_step, min_leaf, max_leaves, influence_trim,
                                             trim_by, example_share, category_splits, max_features, missing));
            },
            nb::kw_only(), nb::arg("l2") = defaults.l2, nb::arg("newton") = defaults.newton,
            nb::arg("max_step") = defaults.max_step, nb::arg("min_leaf") = defaults.min_leaf,
            nb::arg("max_leaves") = defaults.max_leaves, nb::arg("influence_trim") = defaults.influence_trim,
            nb::arg("trim_by") = name_of(defaults.trim_by), nb::arg("example_share") = defaults.example_share,
            nb::arg("category_splits") = name_of(defaults.category_splits),
            nb::arg("max_features") = defaults.max_features, nb::arg("missing") = name_of(defaults.missing))
        .def_ro("l2", &GrowthRules::l2)
        .def_ro("newton", &GrowthRules::newton)
        .def_ro("max_step", &GrowthRules::max_step)
        .def_ro("min_leaf", &GrowthRules::min_leaf)
        .def_ro("max_leaves", &GrowthRules::max_leaves)
        .def_ro("influence_trim", &GrowthRules::influence_trim)
        .def_prop_ro("trim_by", [](const GrowthRules& rules) { return name_of(rules.trim_by); })
        .def_ro("example_share", &GrowthRules::example_share)
        .def_prop_ro("category_splits",
                     [](const GrowthRules& rules) { return name_of(rules.category_splits); })
        .def_ro("max_features", &GrowthRules::max_features)
        .def_prop_ro("missing", [](const GrowthRules& rules) { return name_of(rules.missing); })
        .def("for_weights_times", &GrowthRules::for_weights_times, nb::arg("factor"),
             "The rules that grow the same trees where all weights are multiplied by `factor`.");
    nb::class_<TreeData>(
        m, "TreeData",
        "The attributes of all training positions as codes, laid out for growing trees. Growers "
        "of the same order, min_leaf and category_splits can share it.")
        .def(nb::new_(&tree_data), nb::arg("reader"), nb::arg("order"), nb::arg("rules"),
             nb::arg("n_threads"), nb::arg("exchange") = nb::none(),
             "`exchange`: the group whose members each have some of the sequences; see exchange.hpp.")
        .def_ro("row_bytes", &TreeData::stride, "The bytes of the codes of a position, without bags.");
    nb::class_<TreeGrower>(m, "TreeGrower")
        .def(nb::init<const std::shared_ptr<TreeData>&, std::int64_t, const GrowthRules&,
                      std::optional<Input<double, 1>>, const nb::object&>(),
             nb::arg("data"), nb::arg("n_labels"), nb::arg("rules"), nb::arg("weights").none(),
             nb::arg("exchange") = nb::none(),
             "Grows trees on tree data; a weight, at most 1, for each position. `exchange`: the group that "
             "built the tree data, whose members all grow the same trees.")
        .def("adds_scores", &TreeGrower::adds_scores, nb::arg("samples"),
             "Whether growing, with a sample or without, adds the values of the trees to the scores; if not, "
             "a Forest has to.")
        .def("measure", &TreeGrower::measure, "Measure the phases of grow() from now on, for benchmarks.")
        .def_prop_ro("times", &TreeGrower::times,
                     "Seconds of each phase since measure(), of all threads together.")
        .def_prop_ro("n_counted", &TreeGrower::n_counted,
                     "How many positions the trees of the last grow() counted, over all labels.")
        .def("grow", &TreeGrower::grow, nb::arg("marginals"), nb::arg("gold"), nb::arg("scores"),
             nb::arg("in_sample").none(), nb::arg("step"), nb::arg("seed"), nb::arg("n_threads"),
             "Grow one tree for each label; (starts, bytes of nodes, values, alternatives, surrogates).")
        .def("grow_shared", &TreeGrower::grow_shared, nb::arg("marginals"), nb::arg("gold"),
             nb::arg("scores"), nb::arg("in_sample").none(), nb::arg("step"), nb::arg("seed"),
             nb::arg("n_threads"),
             "Grow one tree for all labels; as grow(), with a row of values for each node.")
        .def(
            "fit", &TreeGrower::fit, nb::arg("targets").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("seed"),
            "Fit one tree to a target and a weight for each position; (the tree as grow() returns trees, its "
            "value at each position).");
    nb::class_<BoundForest>(m, "Forest")
        .def(nb::init<const AttributeReader&, std::int64_t, std::int64_t, const Input<std::int32_t, 1>&,
                      const Input<std::int64_t, 1>&, const Input<std::uint8_t, 2>&, const Input<float, 2>&,
                      const Input<std::int32_t, 1>&, const Input<std::int32_t, 1>&>(),
             nb::arg("reader"), nb::arg("n_labels"), nb::arg("order"), nb::arg("labels"), nb::arg("starts"),
             nb::arg("nodes"), nb::arg("values"), nb::arg("alternatives"), nb::arg("surrogates"),
             "Trees compiled for evaluation; raises ValueError if they do not fit the reader.")
        .def("add_scores", &BoundForest::add_scores, nb::arg("reader"), nb::arg("scores"),
             nb::arg("n_threads"), "Add the values of the trees to (positions, label contexts, labels).");
}

}  // namespace hedgerow
