#include "linear/induction.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "linear/feature_gain.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

namespace {

// One attribute of a column at one position.
struct Shown {
    std::int32_t id;
    float value;
    bool plain;  // the value is always 1: the attribute may be conjoined
};

// The attributes of the positions of the sample.
struct ShownAttributes {
    std::vector<std::int64_t> starts;  // by position of the sample
    std::vector<Shown> shown;
};

// An attribute of the model, or none (id -1), that attributes are conjoined with.
struct Partner {
    std::int32_t id;
    std::vector<std::int32_t> members;    // attributes of columns, rising
    std::vector<std::int32_t> positions;  // positions of the sample that have the partner
};

// The n best candidates so far.
class BestCandidates {
  public:
    explicit BestCandidates(std::int64_t n) : n_(static_cast<std::size_t>(n)) {}
    // A candidate with a lower gain is not among the best.
    double least_gain() const { return heap_.size() < n_ || n_ == 0 ? 0.0 : heap_.front().gain; }
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
    std::vector<Candidate> heap_;  // the worst at the front
};

// The partners that occur in the sample and have a value of 1, after the partner "none". Also fills `shown`.
std::vector<Partner> find_partners(const AttributeView& attributes, const Features& features,
                                   const ConjunctionLists& conjunctions, const InductionSample& sample,
                                   ShownAttributes& shown) {
    const std::int64_t n_basic = features.n_ids - conjunctions.n;
    std::vector<Partner> partners{{-1, {}, {}}};
    std::vector<std::int32_t> partner_of(static_cast<std::size_t>(features.n_ids), -1);
    for (std::int64_t id = 0; id < features.n_ids; ++id) {
        if (features.starts[id] == features.starts[id + 1]) continue;
        partner_of[id] = static_cast<std::int32_t>(partners.size());
        partners.push_back({static_cast<std::int32_t>(id), {static_cast<std::int32_t>(id)}, {}});
        if (id < n_basic) continue;
        const std::int64_t* first = conjunctions.starts + (id - n_basic);
        partners.back().members.assign(conjunctions.members + first[0], conjunctions.members + first[1]);
    }
    shown.starts.assign(1, 0);
    for (std::int64_t i = 0; i < sample.n; ++i) {
        const auto position = static_cast<std::int32_t>(i);
        partners[0].positions.push_back(position);
        const std::int64_t t = sample.positions[i];
        attributes.for_each_position(t, t + 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (const Slot& slot : attributes.slots) {
                const bool valued = slot.column->numbers != nullptr || slot.column->weights != nullptr;
                for_each_id(slot, t, begin, end, [&](std::int32_t id, float value) {
                    const bool plain = !valued || id == slot.padding;
                    if (id < n_basic) shown.shown.push_back({id, value, plain});
                    if (plain && partner_of[id] >= 0) partners[partner_of[id]].positions.push_back(position);
                });
            }
        });
        shown.starts.push_back(static_cast<std::int64_t>(shown.shown.size()));
    }
    return partners;
}

// What all threads share while candidates are tried.
struct Induction {
    Induction(const InductionSample& positions, ShownAttributes attributes, const Features& model,
              std::vector<Partner> all_partners, const InductionRules& all_rules)
        : sample(positions),
          shown(std::move(attributes)),
          features(model),
          partners(std::move(all_partners)),
          rules(all_rules) {
        for (std::size_t c = 0; c < partners.size(); ++c) by_members.emplace(partners[c].members, c);
        room.resize(static_cast<std::size_t>(sample.n * sample.n_labels));
        for (std::int64_t i = 0; i < sample.n; ++i) {
            for (std::int64_t y = 0; y < sample.n_labels; ++y) {
                const double p = probability(i, y);
                room[i * sample.n_labels + y] =
                    -sample.weights[i] * std::log(sample.gold[i] == y ? p : 1 - p);
            }
        }
    }

    double probability(std::int64_t i, std::int64_t y) const {
        return sample.probabilities[i * sample.n_labels + y];
    }

    bool has_feature(std::int32_t id, std::int64_t label) const {
        const std::int32_t* first = features.outputs + features.starts[id];
        return std::binary_search(first, features.outputs + features.starts[id + 1], label);
    }

    // Whether the conjunction of `members`, which `count` positions have, is to be tried as `attribute` with
    // a partner. A conjunction can often be split into attribute and partner in several ways; it is tried
    // once, with the lowest attribute. A conjunction that occurs wherever one of its partners does is
    // redundant.
    bool is_new(const std::vector<std::int32_t>& members, std::int32_t attribute, std::size_t count) const {
        std::vector<std::int32_t> rest;
        for (std::size_t left_out = 0; left_out < members.size() && members.size() > 1; ++left_out) {
            rest = members;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
            const auto partner = by_members.find(rest);
            if (partner == by_members.end()) continue;
            if (members[left_out] < attribute || partners[partner->second].positions.size() == count)
                return false;
        }
        return true;
    }

    const InductionSample& sample;
    ShownAttributes shown;
    Features features;
    std::vector<Partner> partners;
    InductionRules rules;
    std::map<std::vector<std::int32_t>, std::size_t> by_members;  // indices of partners
    // (n, labels): the most that a position can gain, -w log p if the label is gold and -w log(1 - p) if not.
    std::vector<double> room;
};

// Tries candidates on one thread.
class CandidateSearch {
  public:
    CandidateSearch(const Induction& induction, std::int64_t n)
        : in_(induction), counts_(static_cast<std::size_t>(induction.features.n_ids), 0), best_(n) {}

    const BestCandidates& best() const { return best_; }

    void try_all(const Partner& partner) {
        group(partner);
        for (std::size_t g = 0; g + 1 < starts_.size(); ++g) try_attribute(partner, g);
    }

  private:
    // Sorts the occurrences of attributes at the partner's positions by attribute.
    void group(const Partner& partner) {
        const bool alone = partner.id < 0;
        const ShownAttributes& all = in_.shown;
        const auto for_each_shown = [&](auto visit) {
            for (const std::int32_t i : partner.positions)
                for (std::int64_t s = all.starts[i]; s < all.starts[i + 1]; ++s)
                    if (alone || all.shown[s].plain) visit(i, all.shown[s]);
        };
        ids_.clear();
        for_each_shown([&](std::int32_t, const Shown& shown) {
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
        for_each_shown([&](std::int32_t i, const Shown& shown) {
            occurrences_[counts_[shown.id]++] = {i, shown.value, shown.plain};
        });
        for (const std::int32_t id : ids_) counts_[id] = 0;
    }

    void try_attribute(const Partner& partner, std::size_t g) {
        const std::int32_t attribute = ids_[g];
        const auto count = static_cast<std::size_t>(starts_[g + 1] - starts_[g]);
        if (static_cast<std::int64_t>(count) < in_.rules.min_count) return;
        // An attribute at every position of the partner, such as one of its members, adds nothing.
        if (partner.id >= 0 && count == partner.positions.size()) return;
        members_.clear();
        std::int32_t known =
            partner.id < 0 ? attribute : -1;  // the attribute of the model with these members
        for (std::int64_t y = 0; y < in_.sample.n_labels; ++y) {
            if (!may_be_among_best(g, y)) continue;
            if (members_.empty()) {
                members_ = partner.members;
                members_.insert(std::upper_bound(members_.begin(), members_.end(), attribute), attribute);
                if (!in_.is_new(members_, attribute, count)) return;
                const auto same = in_.by_members.find(members_);
                if (same != in_.by_members.end()) known = in_.partners[same->second].id;
            }
            if (known >= 0 && in_.has_feature(known, y)) continue;
            const double weight = gathered_.best_weight(in_.rules.l2, best_.least_gain());
            if (weight == 0) continue;
            const double gain = gathered_.gain(weight, in_.rules.l2);
            if (gain > 0) best_.add({attribute, partner.id, static_cast<std::int32_t>(y), gain, weight});
        }
    }

    // Gathers the occurrences of the g-th attribute for label y. Returns false if the gain is certainly too
    // low. Two upper bounds: G(mu) <= G'(0) mu - l2 mu^2 <= G'(0)^2 / (4 l2); and, if all values are 1, what
    // the positions can gain in the direction of G'(0).
    bool may_be_among_best(std::size_t g, std::int64_t y) {
        gathered_.clear();
        double expected = 0, right = 0, wrong = 0;
        std::int64_t n_gold = 0;
        for (std::int64_t o = starts_[g]; o < starts_[g + 1]; ++o) {
            const Occurrence& here = occurrences_[o];
            const double p = in_.probability(here.position, y), w = in_.sample.weights[here.position];
            gathered_.p.push_back(p);
            gathered_.weights.push_back(w);
            if (!here.plain) gathered_.values.push_back(here.value);
            expected += w * here.value * p;
            const double room = in_.room[here.position * in_.sample.n_labels + y];
            if (in_.sample.gold[here.position] == y) {
                gathered_.observed += w * here.value;
                right += room;
                ++n_gold;
            } else {
                wrong += room;
            }
        }
        if (in_.rules.observed_only && n_gold < in_.rules.min_count) return false;
        const double rise = gathered_.observed - expected;
        double bound = rise * rise / (4 * in_.rules.l2);  // infinite without a penalty
        if (gathered_.values.empty()) bound = std::min(bound, rise > 0 ? right : wrong);
        return rise != 0 && bound * (1 + kBoundSlack) >= best_.least_gain();
    }

    struct Occurrence {
        std::int32_t position;
        float value;
        bool plain;
    };

    const Induction& in_;
    std::vector<std::int64_t> counts_;  // by attribute
    std::vector<std::int32_t> ids_;     // attributes at the partner's positions
    std::vector<std::int64_t> starts_;  // of the occurrences of each of these attributes
    std::vector<Occurrence> occurrences_;
    std::vector<std::int32_t> members_;
    FeatureOccurrences gathered_;
    BestCandidates best_;
};

}  // namespace

// The candidates of one partner are tried on one thread. A thread leaves out only candidates that are not
// among its own best, so the division of partners among threads does not change the result.
std::vector<Candidate> induce(const AttributeView& attributes, const Features& features,
                              const ConjunctionLists& conjunctions, const InductionSample& sample,
                              const InductionRules& rules, std::int64_t n_wanted, std::int64_t n_threads) {
    ShownAttributes shown;
    std::vector<Partner> partners = find_partners(attributes, features, conjunctions, sample, shown);
    const Induction induction(sample, std::move(shown), features, std::move(partners), rules);
    std::deque<CandidateSearch> searches;
    std::mutex guard;
    parallel_for(static_cast<std::int64_t>(induction.partners.size()), n_threads, [&] {
        const std::lock_guard lock(guard);
        CandidateSearch& search = searches.emplace_back(induction, n_wanted);
        return [&search, &induction](std::int64_t c) { search.try_all(induction.partners[c]); };
    });
    std::vector<Candidate> found;
    for (const CandidateSearch& search : searches)
        found.insert(found.end(), search.best().all().begin(), search.best().all().end());
    std::sort(found.begin(), found.end());
    if (static_cast<std::int64_t>(found.size()) > n_wanted) found.resize(static_cast<std::size_t>(n_wanted));
    return found;
}

}  // namespace hedgerow
