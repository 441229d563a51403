// Feature induction (McCallum 2003): which conjunctions of attributes a linear model would gain most by.
//
// With all other weights and what is believed of the neighbours fixed, a feature for label y with weight mu,
// shown with values v at some positions of weight w where the model now gives y the probability p, gains
//
//     G(mu) = sum of w (mu v [gold is y] - log(1 - p + p e^(mu v)))  -  l2 mu^2
//
// which is concave: its maximum is the gain, and where it lies the weight that the feature asks for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "linear/linear.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

constexpr double kLargestWeight = 20;  // without a penalty a feature that is never wrong asks for infinity
constexpr int kMostSteps = 100;
constexpr double kStep = 1e-7;   // a gain is flat at its top: so near to it, it is exact
constexpr double kSlack = 1e-9;  // of a limit, for rounding

// One feature: what its occurrences say.
struct Occurrences {
    std::vector<double> p, weights, values;  // values: empty if all are 1
    double observed = 0;                     // sum of w v where gold is the label

    void clear() {
        p.clear(), weights.clear(), values.clear();
        observed = 0;
    }
    std::size_t size() const { return p.size(); }

    // (G', -G'') at mu
    std::pair<double, double> slope(double mu, double l2) const {
        double expected = 0, spread = 0;
        const double odds = std::exp(mu);
        for (std::size_t i = 0; i < size(); ++i) {
            const double v = values.empty() ? 1.0 : values[i];
            const double raised = p[i] * (values.empty() ? odds : std::exp(mu * v));
            const double q = raised / (1 - p[i] + raised);
            expected += weights[i] * v * q;
            spread += weights[i] * v * v * q * (1 - q);
        }
        return {observed - expected - 2 * l2 * mu, spread + 2 * l2};
    }

    double gain(double mu, double l2) const {
        double sum = 0;
        const double odds = std::exp(mu);
        for (std::size_t i = 0; i < size(); ++i) {
            const double raised = p[i] * (values.empty() ? odds : std::exp(mu * values[i]));
            sum += weights[i] * std::log(1 - p[i] + raised);
        }
        return mu * observed - sum - l2 * mu * mu;
    }

    // The mu of the maximum, by Newton steps that a bracket keeps from running away; 0 if after the first of
    // them, to mu, it is clear that the gain is below `bar`: G(mu) <= G'(0) mu, and beyond mu, if the maximum
    // is there, there is at most G'(mu)^2 / (4 l2) to gain.
    double best(double l2, double bar) const {
        double low = -kLargestWeight, high = kLargestWeight, mu = 0, first_rise = 0;
        double last_move = high - low;
        for (int step = 0; step < kMostSteps; ++step) {
            const auto [rise, bend] = slope(mu, l2);
            if (rise == 0) break;
            if (step == 0) first_rise = rise;
            if (step == 1) {
                const double beyond = (rise > 0) == (first_rise > 0) ? rise * rise / (4 * l2) : 0;
                if ((first_rise * mu + beyond) * (1 + kSlack) < bar) return 0;
            }
            (rise > 0 ? low : high) = mu;
            const double newton = bend > 0 ? mu + rise / bend : (rise > 0 ? high : low);
            // Newton steps that do not shrink can jump between two points for ever: halve the bracket
            // instead.
            const bool shrinks = std::abs(newton - mu) <= last_move / 2;
            const double next = shrinks && newton > low && newton < high ? newton : (low + high) / 2;
            last_move = std::abs(next - mu);
            mu = next;
            if (last_move <= kStep) break;
        }
        return mu;
    }
};

struct Candidate {
    std::int32_t attribute;  // conjoined with
    std::int32_t context;    // an attribute of the model, or -1: nothing
    std::int32_t label;
    double gain;
    double weight;

    // The better first; of equals the lower.
    bool operator<(const Candidate& other) const {
        return std::make_tuple(-gain, attribute, context, label) <
               std::make_tuple(-other.gain, other.attribute, other.context, other.label);
    }
};

// The best n of what came so far.
class Best {
  public:
    explicit Best(std::int64_t n) : n_(static_cast<std::size_t>(n)) {}
    // What a gain must not be below to come in.
    double bar() const { return heap_.size() < n_ || n_ == 0 ? 0.0 : heap_.front().gain; }
    void add(const Candidate& candidate) {
        if (heap_.size() == n_ && (n_ == 0 || !(candidate < heap_.front()))) return;
        if (heap_.size() == n_) {
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
        }
        heap_.push_back(candidate);
        std::push_heap(heap_.begin(), heap_.end());
    }
    const std::vector<Candidate>& all() const { return heap_; }

  private:
    std::size_t n_;
    std::vector<Candidate> heap_;  // the worst first
};

struct Shown {
    std::int32_t id;
    float value;
    bool plain;  // may be conjoined: has no value of its own
};

// The positions that are looked at.
struct Sample {
    std::int64_t n, n_labels;
    const double* probabilities;  // (positions, labels)
    const std::int32_t* gold;
    const double* weights;
    std::vector<std::int64_t> starts;  // of what each position shows
    std::vector<Shown> shown;          // attributes of columns
};

struct InductionRules {
    double l2;
    std::int64_t
        min_count;  // of positions that show a candidate; with its label, if only observed ones count
    bool observed_only;
};

// An attribute that the model has, or nothing (id -1): what attributes are conjoined with.
struct Context {
    std::int32_t id;
    std::vector<std::int32_t> members;    // attributes of columns, rising
    std::vector<std::int32_t> positions;  // of the sample, where it is shown
};

// Everything that is known before candidates are tried.
class Inducer {
  public:
    Inducer(const Sample& sample, const Features& features, std::vector<Context> contexts,
            const InductionRules& rules)
        : sample_(sample), features_(features), contexts_(std::move(contexts)), rules_(rules) {
        for (std::size_t c = 0; c < contexts_.size(); ++c) by_members_.emplace(contexts_[c].members, c);
        room_.resize(static_cast<std::size_t>(sample.n * sample.n_labels));
        for (std::int64_t i = 0; i < sample.n; ++i) {
            for (std::int64_t y = 0; y < sample.n_labels; ++y) {
                const double p = probability(i, y);
                room_[i * sample.n_labels + y] =
                    -sample.weights[i] * std::log(sample.gold[i] == y ? p : 1 - p);
            }
        }
    }

    // The best n candidates, in order. What is conjoined with one context is one thread's work; a thread
    // leaves out what cannot be among its own best, so which it is does not matter.
    std::vector<Candidate> best(std::int64_t n, std::int64_t n_threads) const {
        std::deque<Search> searches;
        std::mutex guard;
        parallel_for(static_cast<std::int64_t>(contexts_.size()), n_threads, [&] {
            const std::lock_guard<std::mutex> lock(guard);
            Search& search = searches.emplace_back(*this, n);
            return [&search, this](std::int64_t c) { search.try_all(contexts_[c]); };
        });
        std::vector<Candidate> found;
        for (const Search& search : searches)
            found.insert(found.end(), search.found().all().begin(), search.found().all().end());
        std::sort(found.begin(), found.end());
        if (static_cast<std::int64_t>(found.size()) > n) found.resize(static_cast<std::size_t>(n));
        return found;
    }

  private:
    double probability(std::int64_t i, std::int64_t y) const {
        return sample_.probabilities[i * sample_.n_labels + y];
    }

    bool has_feature(std::int32_t id, std::int64_t label) const {
        const std::int32_t* first = features_.outputs + features_.starts[id];
        return std::binary_search(first, features_.outputs + features_.starts[id + 1], label);
    }

    // Whether members (of which `attribute` is one) are shown by `count` positions and are to be tried with
    // this attribute: they say something new to each of the contexts that they can be made of, and none of
    // those leaves a lower attribute.
    bool is_new(const std::vector<std::int32_t>& members, std::int32_t attribute, std::size_t count) const {
        std::vector<std::int32_t> rest;
        for (std::size_t left_out = 0; left_out < members.size() && members.size() > 1; ++left_out) {
            rest = members;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
            const auto context = by_members_.find(rest);
            if (context == by_members_.end()) continue;
            if (members[left_out] < attribute || contexts_[context->second].positions.size() == count)
                return false;
        }
        return true;
    }

    // What one thread does, and what it needs for it.
    class Search {
      public:
        Search(const Inducer& inducer, std::int64_t n)
            : in_(inducer), counts_(static_cast<std::size_t>(inducer.features_.n_ids), 0), found_(n) {}

        const Best& found() const { return found_; }

        void try_all(const Context& context) {
            group(context);
            for (std::size_t g = 0; g + 1 < starts_.size(); ++g) try_attribute(context, g);
        }

      private:
        // The positions of the context by the attribute that they show.
        void group(const Context& context) {
            const bool alone = context.id < 0;
            const auto each = [&](auto visit) {
                for (const std::int32_t i : context.positions)
                    for (std::int64_t s = in_.sample_.starts[i]; s < in_.sample_.starts[i + 1]; ++s)
                        if (alone || in_.sample_.shown[s].plain) visit(i, in_.sample_.shown[s]);
            };
            ids_.clear();
            each([&](std::int32_t, const Shown& shown) {
                if (counts_[shown.id]++ == 0) ids_.push_back(shown.id);
            });
            std::sort(ids_.begin(), ids_.end());
            starts_.assign(1, 0);
            for (const std::int32_t id : ids_) {
                const std::int64_t begin = starts_.back();
                starts_.push_back(begin + counts_[id]);
                counts_[id] = begin;
            }
            occurrences_.resize(static_cast<std::size_t>(starts_.back()));
            each([&](std::int32_t i, const Shown& shown) {
                occurrences_[counts_[shown.id]++] = {i, shown.value, shown.plain};
            });
            for (const std::int32_t id : ids_) counts_[id] = 0;
        }

        void try_attribute(const Context& context, std::size_t g) {
            const std::int32_t attribute = ids_[g];
            const auto count = static_cast<std::size_t>(starts_[g + 1] - starts_[g]);
            if (static_cast<std::int64_t>(count) < in_.rules_.min_count) return;
            if (context.id >= 0 && count == context.positions.size()) return;  // its own members, above all
            members_.clear();
            std::int32_t known = context.id < 0 ? attribute : -1;  // the attribute of the model that this is
            for (std::int64_t y = 0; y < in_.sample_.n_labels; ++y) {
                if (!may_come_in(g, y)) continue;
                if (members_.empty()) {
                    members_ = context.members;
                    members_.insert(std::upper_bound(members_.begin(), members_.end(), attribute), attribute);
                    if (!in_.is_new(members_, attribute, count)) return;
                    const auto same = in_.by_members_.find(members_);
                    if (same != in_.by_members_.end()) known = in_.contexts_[same->second].id;
                }
                if (known >= 0 && in_.has_feature(known, y)) continue;
                const double weight = gathered_.best(in_.rules_.l2, found_.bar());
                if (weight == 0) continue;
                const double gain = gathered_.gain(weight, in_.rules_.l2);
                if (gain > 0) found_.add({attribute, context.id, static_cast<std::int32_t>(y), gain, weight});
            }
        }

        // Gathers what the g-th attribute says of a label; whether it can gain enough. For a gain is at most
        // that without what the logarithm adds to its mean, and at most what the positions have to gain.
        bool may_come_in(std::size_t g, std::int64_t y) {
            gathered_.clear();
            double expected = 0, right = 0, wrong = 0;
            std::int64_t n_gold = 0;
            for (std::int64_t o = starts_[g]; o < starts_[g + 1]; ++o) {
                const Occurrence& there = occurrences_[o];
                const double p = in_.probability(there.position, y), w = in_.sample_.weights[there.position];
                gathered_.p.push_back(p);
                gathered_.weights.push_back(w);
                if (!there.plain) gathered_.values.push_back(there.value);
                expected += w * there.value * p;
                const double room = in_.room_[there.position * in_.sample_.n_labels + y];
                if (in_.sample_.gold[there.position] == y) {
                    gathered_.observed += w * there.value;
                    right += room;
                    ++n_gold;
                } else {
                    wrong += room;
                }
            }
            if (in_.rules_.observed_only && n_gold < in_.rules_.min_count) return false;
            const double rise = gathered_.observed - expected;
            double most = rise * rise / (4 * in_.rules_.l2);  // infinite without a penalty
            if (gathered_.values.empty()) most = std::min(most, rise > 0 ? right : wrong);
            return rise != 0 && most * (1 + kSlack) >= found_.bar();
        }

        struct Occurrence {
            std::int32_t position;
            float value;
            bool plain;
        };

        const Inducer& in_;
        std::vector<std::int64_t> counts_;  // by attribute
        std::vector<std::int32_t> ids_;     // attributes that the context's positions show
        std::vector<std::int64_t> starts_;  // of their occurrences
        std::vector<Occurrence> occurrences_;
        std::vector<std::int32_t> members_;
        Occurrences gathered_;
        Best found_;
    };

    const Sample& sample_;
    Features features_;
    std::vector<Context> contexts_;
    InductionRules rules_;
    std::map<std::vector<std::int32_t>, std::size_t> by_members_;
    std::vector<double>
        room_;  // what a position has to gain: from a label if it is gold, and else against it
};

}  // namespace hedgerow
