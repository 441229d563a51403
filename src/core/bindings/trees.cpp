// Growing trees on what a RowReader reads, one for each label and round, and evaluating them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "trees/forest.hpp"
#include "trees/grower.hpp"
#include "trees/multi_output_grower.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kTile = 256;  // positions that a thread turns at a time

std::int64_t power(std::int64_t base, std::int64_t exponent) {
    std::int64_t p = 1;
    for (; exponent > 0; --exponent) p *= base;
    return p;
}

// What an estimator's parameters say of growth.
struct Rules {
    double l2;
    bool newton;
    double max_step;
    std::int64_t min_leaf, max_leaves;
    double trim;
    bool subsets;
    double max_features;
    Missing missing;
};

Missing missing_rule(const std::string& name) {
    if (name == "weighting") return Missing::weighting;
    if (name == "surrogate") return Missing::surrogate;
    require(name == "learned", "missing values go by weighting, surrogate or learned");
    return Missing::learned;
}

// Trees as arrays: node i is (attribute, lag, label, if true, if false, set); `set` numbers the further ids
// or labels that its test holds for, -1 if there are none. Of missing values: the share of them that goes
// where the test holds, and before that the node's surrogates.
class TreeWriter {
  public:
    // rows: the values of a tree for all labels, n_outputs of them for each node; null for a tree of one
    // label.
    void add(const std::vector<TreeNode>& tree, double step, const float* rows = nullptr,
             std::int64_t n_outputs = 1) {
        for (std::int64_t i = 0; rows && i < static_cast<std::int64_t>(tree.size()) * n_outputs; ++i) {
            values_.push_back(static_cast<float>(rows[i] * step));
        }
        for (const TreeNode& node : tree) {
            std::int32_t set = -1;
            if (!node.test.others.empty()) {
                set = static_cast<std::int32_t>(set_starts_.size()) - 1;
                members_.insert(members_.end(), node.test.others.begin(), node.test.others.end());
                set_starts_.push_back(static_cast<std::int64_t>(members_.size()));
            }
            nodes_.insert(nodes_.end(),
                          {node.test.id, node.test.lag, node.test.label, node.if_true, node.if_false, set});
            if (rows == nullptr) values_.push_back(static_cast<float>(node.value * step));
            gains_.push_back(static_cast<float>(node.gain));
            counts_.push_back(node.count);
            shares_.push_back(static_cast<float>(std::max(node.share, 0.0)));
            surrogates_.insert(surrogates_.end(), node.surrogates.begin(), node.surrogates.end());
            surrogate_starts_.push_back(static_cast<std::int64_t>(surrogates_.size()));
        }
        starts_.push_back(static_cast<std::int64_t>(gains_.size()));
    }
    nb::tuple arrays() {
        return nb::make_tuple(to_array(std::move(starts_)), to_array(std::move(nodes_)),
                              to_array(std::move(values_)), to_array(std::move(gains_)),
                              to_array(std::move(counts_)), to_array(std::move(set_starts_)),
                              to_array(std::move(members_)), to_array(std::move(shares_)),
                              to_array(std::move(surrogate_starts_)), to_array(std::move(surrogates_)));
    }

  private:
    std::vector<std::int64_t> starts_{0}, counts_, set_starts_{0}, surrogate_starts_{0};
    std::vector<std::int32_t> nodes_, members_, surrogates_;
    std::vector<float> values_, gains_, shares_;
};

// Grows rounds of trees on the sequences of a reader; keeps its memory from round to round.
class TreeGrower {
  public:
    TreeGrower(nb::object reader, std::int64_t n_labels, std::int64_t order, const Rules& rules,
               std::optional<Input<double, 1>> weights)
        : reader_(std::move(reader)), k_(n_labels), order_(order), n_histories_(power(n_labels, order)) {
        width_ = n_histories_ <= 2 ? n_histories_ : n_histories_ <= 4 ? 4 : (n_histories_ + 7) / 8 * 8;
        for (std::int64_t m = 0; m <= order; ++m) n_histories_of_.push_back(power(n_labels, m));
        const auto& source = nb::cast<const RowReader&>(reader_);
        require(n_labels >= 2 && order >= 0, "trees need two labels and an order of at least 0");
        require(source.n_positions() < kMostPositions, "trees take fewer than 2^24 positions");
        require(rules.max_leaves >= 2 && rules.l2 >= 0 && rules.max_step > 0 && rules.min_leaf >= 1 &&
                    rules.trim >= 0 && rules.max_features > 0,
                "growth rules");
        std::int64_t reach = 0;
        for (const std::int64_t offset : source.offsets()) reach = std::max(reach, std::abs(offset));
        require(source.n_positions() + (source.n_sequences() + 1) * reach < (std::int64_t{1} << 31),
                "positions and padding of all sequences come to more than 2^31");
        if (weights) {
            require(weights->shape(0) == static_cast<std::size_t>(source.n_positions()),
                    "one weight for each position");
            weights_.assign(weights->data(), weights->data() + weights->shape(0));
        }
        data_ = std::make_unique<TreeData>(source.starts(), source.n_sequences(), order, reach,
                                           rules.subsets ? 1 : rules.min_leaf);
        data_->columns.reserve(source.n_columns());
        for (std::size_t j = 0; j < source.n_columns(); ++j) {
            require(source.column(j).numbers == nullptr, "trees read numbers as bins");
            data_->add_column(source.column(j), source.n_values(j));
        }
        data_->lay_out();
        std::int32_t first_id = 0;
        std::int64_t entries = 0;
        for (std::size_t j = 0; j < source.n_columns(); ++j) {
            for (const std::int64_t offset : source.offsets(j)) {
                entries += data_->columns[j].n_codes + 3;
                require(entries < (std::int64_t{1} << 31), "columns and window make more than 2^31 tests");
                data_->add_slot(static_cast<std::int64_t>(j), offset, first_id);
                first_id += source.n_values(j) + (source.padded(j) ? 1 : 0);
            }
        }
        data_->finish();
        turns_.resize(static_cast<std::size_t>(k_));
        std::iota(turns_.begin(), turns_.end(), 0);
        n_counted_.resize(turns_.size());
        rules_ = {{{rules.l2, rules.newton, rules.max_step, rules.min_leaf, weight_unit(rules)},
                   rules.missing,
                   rules.subsets,
                   rules.max_features},
                  rules.max_leaves,
                  static_cast<std::int64_t>(rules.trim * kResidualUnit)};
    }

    // Whether grow() adds what its trees say to the scores. Not where positions go to several leaves and some
    // positions are left out.
    bool adds_scores(bool samples) const {
        return !parts_positions(*data_, rules_.split.missing) || (!samples && rules_.trim == 0);
    }

    // One round: for each label a tree fitted to gold minus marginals, its values times `step` added to
    // `scores` if it does that. in_sample: by position, whether it counts. Returns the trees as TreeWriter
    // has them.
    nb::tuple grow(const Input<float, 3>& marginals, const Input<std::int32_t, 1>& gold,
                   InOut<float, 3> scores, std::optional<Input<std::uint8_t, 1>> in_sample, double step,
                   std::uint64_t seed, std::int64_t n_threads) {
        check(marginals, gold, scores, in_sample, n_threads);
        const bool adds_scores = this->adds_scores(in_sample.has_value());
        std::vector<std::vector<TreeNode>> trees(static_cast<std::size_t>(k_));
        {
            const nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(guard_);
            const std::int64_t row = turned_row(),
                               block = std::min(k_, std::max<std::int64_t>(8, 2 * n_threads));
            turned_.resize(static_cast<std::size_t>(block * row));
            for (std::int64_t first = 0; first < k_; first += block) {
                const std::int64_t last = std::min(first + block, k_);
                turn_residuals(marginals.data(), gold.data(), first, last, n_threads);
                parallel_for(last - first, n_threads, [&] {
                    return [&, grower = take_grower()](std::int64_t i) {
                        const std::int64_t label = turns_[first + i];
                        std::int32_t* mine = turned_.data() + i * row;
                        trees[label] =
                            grower->grow(mine, width_, in_sample ? in_sample->data() : nullptr,
                                         seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(label));
                        n_counted_[label] = grower->n_counted();
                        if (adds_scores) grower->put_values(step, reinterpret_cast<float*>(mine));
                    };
                });
                n_lent_ = 0;
                if (adds_scores) add_turned(scores.data(), first, last, n_threads);
            }
            // The next round begins with the labels that have the most to do, so that no thread is left with
            // one of them when the others are done.
            std::stable_sort(turns_.begin(), turns_.end(),
                             [&](std::int64_t a, std::int64_t b) { return n_counted_[a] > n_counted_[b]; });
        }
        TreeWriter writer;
        for (const auto& tree : trees) writer.add(tree, step);
        return writer.arrays();
    }

    // One round of a single tree for all labels.
    nb::tuple grow_shared(const Input<float, 3>& marginals, const Input<std::int32_t, 1>& gold,
                          InOut<float, 3> scores, std::optional<Input<std::uint8_t, 1>> in_sample,
                          double step, std::uint64_t seed, std::int64_t n_threads) {
        require(order_ == 0, "a tree for all labels does not test previous ones");
        require(!rules_.split.subsets, "a tree for all labels does not split categories into sets");
        require(!data_->has_missing(), "a tree for all labels takes no missing values");
        check(marginals, gold, scores, in_sample, n_threads);
        TreeWriter writer;
        {
            const nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(guard_);
            if (!shared_) {
                shared_ = std::make_unique<SharedGrower>(*data_, k_, rules_,
                                                         weights_.empty() ? nullptr : weights_.data());
            }
            residuals_.resize(static_cast<std::size_t>(data_->n_positions * k_));
            for (std::size_t i = 0; i < residuals_.size(); ++i) residuals_[i] = -marginals.data()[i];
            for (std::int64_t t = 0; t < data_->n_positions; ++t) residuals_[t * k_ + gold.data()[t]] += 1;
            const auto& tree = shared_->grow(residuals_.data(), in_sample ? in_sample->data() : nullptr,
                                             seed * 0x9e3779b97f4a7c15u, n_threads);
            writer.add(tree, step, shared_->values().data(), k_);
            shared_->apply([&](std::int64_t t, std::int64_t node) {
                const float* value = shared_->values().data() + node * k_;
                float* to = scores.data() + t * k_;
                for (std::int64_t label = 0; label < k_; ++label)
                    to[label] += static_cast<float>(value[label] * step);
            });
        }
        return writer.arrays();
    }

    // One tree of one label: its leaves are sums of targets over (l2 + sums of weights). Returns the tree as
    // TreeWriter has it, and what it says of each position.
    nb::tuple fit(const Input<double, 1>& targets, const Input<double, 1>& weights, std::uint64_t seed) {
        const auto n = static_cast<std::size_t>(data_->n_positions);
        require(order_ == 0 && !rules_.split.objective.newton && rules_.trim == 0,
                "a tree is fitted to targets of order 0, by its own weights alone");
        require(targets.shape(0) == n && weights.shape(0) == n, "a target and a weight for each position");
        double highest = 0, all = 0;
        for (std::size_t t = 0; t < n; ++t) {
            require(std::isfinite(targets.data()[t]) && std::isfinite(weights.data()[t]) &&
                        weights.data()[t] >= 0,
                    "targets are finite, and weights are not below 0 either");
            highest = std::max(highest, std::fabs(targets.data()[t]));
            all += weights.data()[t];
        }
        require(std::isfinite(all), "the sum of weights is finite");
        const Output<float, 1> values({n});
        TreeWriter writer;
        {
            const nb::gil_scoped_release release;
            // Whole numbers that are as large as there is room for: see histogram.hpp.
            const double scale = power_of_two_below(1, highest);
            GrowthRules rules = rules_;
            rules.split.objective.weight_unit =
                power_of_two_below(std::ldexp(1.0, kCountShift) - static_cast<double>(n), all);
            std::vector<Sums> brought(data_->position.size());
            for (std::size_t t = 0; t < n; ++t) {
                brought[data_->cell[t]] =
                    one_position(std::llrint(targets.data()[t] * scale * kResidualUnit),
                                 std::llrint(weights.data()[t] * rules.split.objective.weight_unit));
            }
            Grower grower(*data_, groups(), k_, order_, rules, nullptr);
            std::vector<TreeNode> tree = grower.grow(brought.data(), seed);
            for (TreeNode& node : tree) node.gain /= scale * scale;
            std::vector<float> by_cell(data_->position.size());
            grower.put_values(1 / scale, by_cell.data());
            for (std::size_t t = 0; t < n; ++t) values.data()[t] = by_cell[data_->cell[t]];
            writer.add(tree, 1 / scale);
        }
        return nb::make_tuple(writer.arrays(), values.array());
    }

  private:
    // The highest power of two that times `value` is at most `limit`; 1 where the value is 0.
    static double power_of_two_below(double limit, double value) {
        if (value == 0) return 1;
        const int power = std::ilogb(limit) - std::ilogb(value) - 1;
        return std::ldexp(1.0, std::min(std::max(power, -1000), 1000));
    }

    // The inverse of what weights are whole multiples of. Where positions are parted, as large as leaves room
    // for the weights of all.
    double weight_unit(const Rules& rules) const {
        if (rules.newton) return 65536.0;
        if (!parts_positions(*data_, rules.missing)) return weights_.empty() ? 1.0 : 256.0;
        double unit = 65536.0;
        const double examples = static_cast<double>(data_->n_positions) * static_cast<double>(n_histories_);
        while (unit > 1 && examples * unit >= std::ldexp(1.0, kCountShift)) unit /= 2;
        return unit;
    }

    void check(const Input<float, 3>& marginals, const Input<std::int32_t, 1>& gold,
               const InOut<float, 3>& scores, const std::optional<Input<std::uint8_t, 1>>& in_sample,
               std::int64_t n_threads) const {
        const std::int64_t n = data_->n_positions;
        require(marginals.shape(0) == static_cast<std::size_t>(n) && has_shape(marginals) &&
                    has_shape(scores) && scores.shape(0) == static_cast<std::size_t>(n),
                "scores and marginals are (positions, labels^order, labels)");
        require(gold.shape(0) == static_cast<std::size_t>(n), "one gold label for each position");
        std::uint32_t highest = 0;  // a negative one is higher than any
        for (std::int64_t t = 0; t < n; ++t)
            highest = std::max(highest, static_cast<std::uint32_t>(gold.data()[t]));
        require(highest < k_, "gold labels are below n_labels");
        require(!in_sample || in_sample->shape(0) == static_cast<std::size_t>(n),
                "a sample says yes or no of each position");
        require(n_threads >= 1, "at least one thread");
    }

    template <class Array>
    bool has_shape(const Array& array) const {
        return array.shape(1) == static_cast<std::size_t>(n_histories_) &&
               array.shape(2) == static_cast<std::size_t>(k_);
    }

    // Only where single trees grow.
    const SlotGroups& groups() {
        std::call_once(grouping_, [&] { groups_ = std::make_unique<SlotGroups>(*data_); });
        return *groups_;
    }

    std::shared_ptr<Grower> take_grower() {
        const std::lock_guard<std::mutex> lock(lending_);
        if (n_lent_ == growers_.size()) {
            growers_.push_back(std::make_shared<Grower>(*data_, groups(), k_, order_, rules_,
                                                        weights_.empty() ? nullptr : weights_.data()));
        }
        return growers_[n_lent_++];
    }

    template <class Visit>
    void by_tiles(std::int64_t n_threads, Visit visit) const {
        const std::int64_t n_tiles = (data_->n_positions + kTile - 1) / kTile;
        parallel_for(n_tiles, n_threads, [&] {
            return [&](std::int64_t i) { visit(i * kTile, std::min((i + 1) * kTile, data_->n_positions)); };
        });
    }

    std::int64_t turned_row() const { return static_cast<std::int64_t>(data_->position.size()) * width_; }

    // Gold minus marginals in units of 2^-30 for the labels whose turns are [first, last): (labels, cells,
    // histories). Labels go by blocks, so that the residuals of all of them are never there at once.
    void turn_residuals(const float* marginals, const std::int32_t* gold, std::int64_t first,
                        std::int64_t last, std::int64_t n_threads) {
        std::vector<std::int64_t> turn_of(static_cast<std::size_t>(k_));
        for (std::int64_t turn = 0; turn < k_; ++turn) turn_of[turns_[turn]] = turn;
        by_tiles(n_threads, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t size = n_histories_ * k_;
            std::vector<std::int32_t> tile(static_cast<std::size_t>((end - begin) * size));
            tree_kernels().negate(marginals + begin * size, (end - begin) * size, tile.data());
            for (std::int64_t turn = first; turn < last; ++turn) {
                std::int32_t* out = turned_.data() + (turn - first) * turned_row();
                for (std::int64_t t = begin; t < end; ++t) {
                    const std::int32_t* from = tile.data() + (t - begin) * size + turns_[turn];
                    std::int32_t* to = out + data_->cell[t] * width_;
                    const std::int64_t there = n_histories_of_[data_->depth[t]];
                    for (std::int64_t h = 0; h < there; ++h) to[h] = from[h * k_];
                    for (std::int64_t h = there; h < width_; ++h) to[h] = 0;
                }
            }
            for (std::int64_t t = begin; t < end; ++t) {
                const std::int64_t turn = turn_of[gold[t]];
                if (turn < first || turn >= last) continue;
                std::int64_t h = 0;
                for (std::int64_t back = 1; back <= data_->depth[t]; ++back) h = h * k_ + gold[t - back];
                turned_[(turn - first) * turned_row() + data_->cell[t] * width_ + h] += 1 << 30;
            }
        });
    }

    void add_turned(float* scores, std::int64_t first, std::int64_t last, std::int64_t n_threads) const {
        by_tiles(n_threads, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t turn = first; turn < last; ++turn) {
                const std::int32_t* in = turned_.data() + (turn - first) * turned_row();
                for (std::int64_t t = begin; t < end; ++t) {
                    float* to = scores + t * n_histories_ * k_ + turns_[turn];
                    for (std::int64_t h = 0; h < n_histories_; ++h) {
                        float added;
                        std::memcpy(&added, in + data_->cell[t] * width_ + h, sizeof added);
                        to[h * k_] += added;
                    }
                }
            }
        });
    }

    nb::object reader_;
    std::int64_t k_, order_, n_histories_, width_;  // width_: of a row of residuals, for vectors
    std::vector<std::int64_t> n_histories_of_;      // by depth
    std::vector<double> weights_;
    std::unique_ptr<TreeData> data_;
    std::once_flag grouping_;
    std::unique_ptr<SlotGroups> groups_;
    GrowthRules rules_{};
    std::mutex guard_, lending_;
    std::vector<std::shared_ptr<Grower>> growers_;
    std::size_t n_lent_ = 0;
    std::vector<std::int64_t> turns_,
        n_counted_;  // labels in the order of growth; and what each counted last
    std::vector<std::int32_t> turned_;
    std::unique_ptr<SharedGrower> shared_;
    std::vector<float> residuals_;
};

// A forest with the layout of the reader that it was made for.
class BoundForest {
  public:
    BoundForest(const RowReader& reader, std::int64_t n_labels, std::int64_t order,
                const Input<std::int32_t, 1>& labels, const Input<std::int64_t, 1>& starts,
                const Input<std::int32_t, 2>& nodes, const Input<float, 2>& values,
                const Input<std::int64_t, 1>& set_starts, const Input<std::int32_t, 1>& set_members,
                const Input<float, 1>& shares, const Input<std::int64_t, 1>& surrogate_starts,
                const Input<std::int32_t, 1>& surrogates)
        : slots_(layout(reader)), forest_(slots_, reader.n_ids(), n_labels, order, values.shape(1) != 1) {
        require(n_labels >= 1 && order >= 0, "trees need labels and an order of at least 0");
        const auto n = static_cast<std::int64_t>(values.shape(0)),
                   n_trees = static_cast<std::int64_t>(labels.shape(0));
        require(nodes.shape(0) == values.shape(0) && nodes.shape(1) == 6, "six numbers for each node");
        const bool shared = values.shape(1) != 1;
        require(!shared || (static_cast<std::int64_t>(values.shape(1)) == n_labels && order == 0),
                "a node has one value, or in trees of order 0 one for each label");
        require(
            starts.shape(0) == labels.shape(0) + 1 && starts.data()[0] == 0 && starts.data()[n_trees] == n,
            "starts rise from 0 to the number of nodes");
        const auto n_sets = static_cast<std::int64_t>(set_starts.shape(0)) - 1;
        require(n_sets >= 0 && set_starts.data()[0] == 0 &&
                    set_starts.data()[n_sets] == static_cast<std::int64_t>(set_members.shape(0)),
                "starts of sets rise from 0 to the number of members");
        for (std::int64_t i = 0; i < n_sets; ++i)
            require(set_starts.data()[i] <= set_starts.data()[i + 1], "starts of sets rise");
        require(static_cast<std::int64_t>(shares.shape(0)) == n, "one share for each node");
        require(static_cast<std::int64_t>(surrogate_starts.shape(0)) == n + 1 &&
                    surrogate_starts.data()[0] == 0 &&
                    surrogate_starts.data()[n] == static_cast<std::int64_t>(surrogates.shape(0)),
                "starts of surrogates rise from 0 to their number");
        for (std::int64_t i = 0; i < n; ++i) {
            require(shares.data()[i] >= 0 && shares.data()[i] <= 1, "shares are from 0 to 1");
            require(surrogate_starts.data()[i] <= surrogate_starts.data()[i + 1],
                    "starts of surrogates rise");
        }
        for (std::size_t i = 0; i < surrogates.shape(0); ++i) {
            const std::int32_t id = surrogates.data()[i] < 0 ? ~surrogates.data()[i] : surrogates.data()[i];
            require(id < reader.n_ids(), "surrogates exist");
        }
        std::vector<TreeNode> tree;
        for (std::int64_t i = 0; i < n_trees; ++i) {
            const std::int64_t first = starts.data()[i], size = starts.data()[i + 1] - first;
            require(size >= 1 && first + size <= n, "every tree has a node");
            require(labels.data()[i] >= 0 && labels.data()[i] < n_labels,
                    "labels of trees are below n_labels");
            tree.assign(static_cast<std::size_t>(size), {});
            std::vector<bool> has_parent(static_cast<std::size_t>(size), false);
            has_parent[0] = true;
            for (std::int64_t j = 0; j < size; ++j) {
                const std::int32_t* row = nodes.data() + 6 * (first + j);
                Test& test = tree[j].test;
                test = {row[0], row[1], row[2], {}};
                if (!shared) tree[j].value = values.data()[first + j];
                if (test.is_leaf()) continue;
                require(row[3] > j && row[3] < size && row[4] > j && row[4] < size,
                        "children come after their parent");
                tree[j].if_true = row[3];
                tree[j].if_false = row[4];
                for (const std::int32_t child : {row[3], row[4]}) {
                    require(!has_parent[child], "a node has one parent");
                    has_parent[child] = true;
                }
                require(row[5] >= -1 && row[5] < n_sets, "sets exist");
                if (row[5] >= 0) {
                    test.others.assign(set_members.data() + set_starts.data()[row[5]],
                                       set_members.data() + set_starts.data()[row[5] + 1]);
                }
                const std::int64_t limit = test.id >= 0 ? reader.n_ids() : n_labels + 1;
                require(row[0] < reader.n_ids() && row[1] < order, "tests exist");
                require(test.id >= 0 || (test.label >= 0 && test.label < limit), "tests exist");
                for (const std::int32_t other : test.others)
                    require(other >= 0 && other < limit, "tests exist");
                tree[j].share = shares.data()[first + j];
                tree[j].surrogates.assign(surrogates.data() + surrogate_starts.data()[first + j],
                                          surrogates.data() + surrogate_starts.data()[first + j + 1]);
            }
            require(std::find(has_parent.begin(), has_parent.end(), false) == has_parent.end(),
                    "a node has one parent");
            if (shared) {
                forest_.add_shared(tree, values.data() + first * n_labels);
            } else {
                forest_.add(labels.data()[i], tree);
            }
        }
        forest_.finish();
    }

    // Adds the values of all trees to scores (positions, histories, labels).
    void add_scores(const RowReader& reader, InOut<float, 3> scores, std::int64_t n_threads) const {
        require(same_layout(layout(reader)) && reader.n_ids() == forest_.n_ids(),
                "a forest reads columns like those it was made for");
        require(scores.shape(0) == static_cast<std::size_t>(reader.n_positions()) &&
                    scores.shape(1) == static_cast<std::size_t>(forest_.n_histories()) &&
                    scores.shape(2) == static_cast<std::size_t>(forest_.n_labels()),
                "scores are (positions, labels^order, labels)");
        require(n_threads >= 1, "at least one thread");
        const nb::gil_scoped_release release;
        const std::int64_t n = reader.n_positions(), n_chunks = (n + kChunkPositions - 1) / kChunkPositions;
        parallel_for(n_chunks, n_threads, [&] {
            return [&, work = forest_.make_work(n), spans = std::vector<Span>()](std::int64_t c) mutable {
                const std::int64_t first = c * kChunkPositions, last = std::min(first + kChunkPositions, n);
                forest_.begin(work, last - first);
                spans.clear();
                reader.for_each_position(
                    first, last, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                        forest_.put_depth(work, t - first, std::min(t - begin, forest_.order()));
                        spans.push_back({begin, end});
                    });
                const Rows rows = reader.rows();
                for (std::int64_t s = 0; s < rows.n_slots; ++s)
                    read_slot(rows.slots[s], s, first, spans, work);
                forest_.add_scores(work, scores.data() + first * forest_.n_histories() * forest_.n_labels());
            };
        });
    }

  private:
    // The sequence of a position.
    struct Span {
        std::int64_t begin, end;
    };

    // Reads a slot at the positions from `first` on. Most columns are of categories or of numbers in bins,
    // and their codes are read without asking each time which it is.
    void read_slot(const Slot& slot, std::int64_t s, std::int64_t first, const std::vector<Span>& spans,
                   Forest::Work& work) const {
        const RowColumn& column = *slot.column;
        const auto n = static_cast<std::int64_t>(spans.size());
        const auto each = [&](auto code_at, std::int32_t missing) {
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t at = first + i + slot.offset;
                if (at < spans[i].begin || at >= spans[i].end) {
                    forest_.read(work, i, slot.padding);
                    continue;
                }
                const std::int32_t code = code_at(at);
                if (code == missing) {
                    forest_.miss(work, i, s);
                } else if (code >= 0) {
                    forest_.read(work, i, slot.first_id + code);
                }
            }
        };
        if (column.codes) return each([&](std::int64_t at) { return column.codes[at]; }, kMissingId);
        if (column.bins)
            return each([&](std::int64_t at) { return std::int32_t{column.bins[at]}; }, kMissingBin);
        for (std::int64_t i = 0; i < n; ++i) {
            for_each_id(slot, first + i, spans[i].begin, spans[i].end,
                        [&](std::int32_t id, float) { forest_.read(work, i, id); });
            if (column.has_missing && is_missing(slot, first + i, spans[i].begin, spans[i].end))
                forest_.miss(work, i, s);
        }
    }

    static std::vector<SlotIds> layout(const RowReader& reader) {
        std::vector<SlotIds> slots;
        std::int32_t first = 0;
        for (std::size_t j = 0; j < reader.n_columns(); ++j) {
            for (std::size_t i = 0; i < reader.offsets(j).size(); ++i) {
                slots.push_back({first, reader.n_values(j), reader.column(j).bins != nullptr});
                first += reader.n_values(j) + (reader.padded(j) ? 1 : 0);
            }
        }
        return slots;
    }
    bool same_layout(const std::vector<SlotIds>& others) const {
        bool same = others.size() == slots_.size();
        for (std::size_t i = 0; same && i < slots_.size(); ++i) {
            same = others[i].first == slots_[i].first && others[i].n_values == slots_[i].n_values &&
                   others[i].numeric == slots_[i].numeric;
        }
        return same;
    }

    std::vector<SlotIds> slots_;
    Forest forest_;
};

}  // namespace

void register_trees(nb::module_& m) {
    nb::class_<Rules>(m, "GrowthRules")
        .def(
            "__init__",
            [](Rules* self, double l2, bool newton, double max_step, std::int64_t min_leaf,
               std::int64_t max_leaves, double trim, bool subsets, double max_features,
               const std::string& missing) {
                new (self) Rules{l2,       newton,       max_step,
                                 min_leaf, max_leaves,   trim,
                                 subsets,  max_features, missing_rule(missing)};
            },
            nb::kw_only(), nb::arg("l2"), nb::arg("newton"), nb::arg("max_step"), nb::arg("min_leaf"),
            nb::arg("max_leaves"), nb::arg("trim"), nb::arg("subsets"), nb::arg("max_features"),
            nb::arg("missing"));
    nb::class_<TreeGrower>(m, "TreeGrower")
        .def(
            nb::init<nb::object, std::int64_t, std::int64_t, const Rules&, std::optional<Input<double, 1>>>(),
            nb::arg("reader"), nb::arg("n_labels"), nb::arg("order"), nb::arg("rules"),
            nb::arg("weights").none(), "Grows trees on what a RowReader reads.")
        .def("adds_scores", &TreeGrower::adds_scores, nb::arg("samples"),
             "Whether grow(), with a sample or without, adds what its trees say; if not, a Forest has to.")
        .def("grow", &TreeGrower::grow, nb::arg("marginals"), nb::arg("gold"), nb::arg("scores"),
             nb::arg("in_sample").none(), nb::arg("step"), nb::arg("seed"), nb::arg("n_threads"),
             "One tree for each label; (starts, nodes, values, gains, counts, starts of sets, members of "
             "sets, shares, starts of surrogates, surrogates).")
        .def("grow_shared", &TreeGrower::grow_shared, nb::arg("marginals"), nb::arg("gold"),
             nb::arg("scores"), nb::arg("in_sample").none(), nb::arg("step"), nb::arg("seed"),
             nb::arg("n_threads"),
             "One tree for all labels, as grow() returns trees, with a row of values for each node.")
        .def("fit", &TreeGrower::fit, nb::arg("targets").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("seed"),
             "One tree fitted to a target for each position, whose weight in sums is given; (the tree as "
             "grow() "
             "returns trees, what it says of each position).");
    nb::class_<BoundForest>(m, "Forest")
        .def(nb::init<const RowReader&, std::int64_t, std::int64_t, const Input<std::int32_t, 1>&,
                      const Input<std::int64_t, 1>&, const Input<std::int32_t, 2>&, const Input<float, 2>&,
                      const Input<std::int64_t, 1>&, const Input<std::int32_t, 1>&, const Input<float, 1>&,
                      const Input<std::int64_t, 1>&, const Input<std::int32_t, 1>&>(),
             nb::arg("reader"), nb::arg("n_labels"), nb::arg("order"), nb::arg("labels"), nb::arg("starts"),
             nb::arg("nodes"), nb::arg("values"), nb::arg("set_starts"), nb::arg("set_members"),
             nb::arg("shares"), nb::arg("surrogate_starts"), nb::arg("surrogates"),
             "Trees compiled for evaluation.")
        .def("add_scores", &BoundForest::add_scores, nb::arg("reader"), nb::arg("scores"),
             nb::arg("n_threads"), "Adds the values of the trees to (positions, histories, labels).");
}

}  // namespace hedgerow
