#include "linear/margin.hpp"

#include <algorithm>

#include "lattice/lattice.hpp"
#include "lattice/path_score.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kVectorsPerPoll = 16;  // weight vectors that vote between two polls for interrupts

}  // namespace

const float* PathFinder::constrained(const float* table) {
    if (!forbidden_.any()) return table;
    forbidden_.apply(scores_topology_, table, table_);
    return table_.data();
}

bool PathFinder::search(const float* table) {
    std::fill(path_.begin(), path_.end(), 0);
    if (beam_ == 0 && topology_.order <= 1) {
        const FastLane<float>& lane = fast_lane<float>();
        const auto size = static_cast<std::size_t>(lane.max_work_size(topology_.n_labels, length_));
        if (work_.size() < size) work_.resize(size);
        double score;
        lane.max_sum(scores(table), topology_.n_labels, topology_.order, path_.data(), work_.data(), &score);
        return score != kMinusInfinity;
    }
    Lattice<Max, ScoreReader<float>> lattice(topology_, max_, {topology_, scores(table)}, {beam_});
    if (lattice.forward() == kMinusInfinity) return false;
    lattice.trace(1.0, path_.data());
    return true;
}

const std::vector<std::int32_t>& PathFinder::best(const float* table) {
    forbidden_.apply_to_end(label_scores_.data() + (length_ - 1) * topology_.n_labels);
    found_ = search(constrained(table));
    return path_;
}

bool PathFinder::next_best(const float* table) {
    table = constrained(table);
    Lattice<Best, ScoreReader<float>> lattice(topology_, second_, {topology_, scores(table)}, {beam_});
    lattice.forward();
    if (second_.value(lattice.goal(), 1) == kMinusInfinity) return false;
    lattice.trace(2.0, path_.data());
    return true;
}

std::int64_t PathFinder::positions_with_gold(const float* table, const std::int32_t* gold) {
    table = constrained(table);
    Lattice<Max, ScoreReader<float>> lattice(topology_, max_, {topology_, scores(table)}, {beam_});
    lattice.forward();
    const std::int64_t whole = length_;
    for (std::int64_t t = 0; t < whole; ++t) {
        const std::int64_t n_context = std::min(t + 1, topology_.memory());
        if (lattice.keeps(t, label_context(gold, t + 1, n_context, topology_.n_labels))) continue;
        length_ = t + 1;
        search(table);
        length_ = whole;
        return t + 1;
    }
    return whole;
}

double PathFinder::score(const float* table, const std::int32_t* labels, std::int64_t length) const {
    return path_score<float>(scores_topology_, {length, label_scores_.data(), nullptr, table}, labels);
}

bool MarginLearner::learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                          float weight) {
    const bool violated = violates(slots, begin, end, gold);
    if (violated) update(slots, begin, end, gold, weight);
    ++n_seen_;
    if (recorded_) {
        if (violated) {
            change_starts_.push_back(static_cast<std::int64_t>(changes_.size()));
            survived_.push_back(0);
        }
        ++survived_.back();
    }
    return violated;
}

// Whether score(path) + margin > score(gold) for some wrong path. If so, the finder holds that path.
bool MarginLearner::violates(const Slots& slots, std::int64_t begin, std::int64_t end,
                             const std::int32_t* gold) {
    const std::int64_t length = end - begin, k = topology_.n_labels;
    const double margin = rules_.margin + rules_.growth * static_cast<double>(n_seen_ + 1);
    float* scores = finder_.label_scores(length);
    attributes_.score(slots, begin, end, scores);
    if (rules_.hamming && margin > 0) {
        for (std::int64_t t = 0; t < length; ++t)
            for (std::int64_t y = 0; y < k; ++y)
                if (y != gold[t]) scores[t * k + y] += static_cast<float>(margin);
    }
    const float* table = n_grams_.table();
    const std::vector<std::int32_t>& path = finder_.best(table);
    n_used_ = length;
    const bool wrong = !std::equal(path.begin(), path.end(), gold);
    if (!wrong && !rules_.hamming && margin > 0) {
        return finder_.next_best(table) &&
               finder_.score(table, path.data(), length) + margin > finder_.score(table, gold, length);
    }
    if (wrong && (rules_.early || !finder_.found())) n_used_ = finder_.positions_with_gold(table, gold);
    return wrong;
}

// weights += weight (features of gold - features of the path), over the first n_used_ positions. The
// attribute features differ where the labels differ; the n-grams also differ at the `order` positions that
// follow.
void MarginLearner::update(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                           float weight) {
    const std::int64_t k = topology_.n_labels, n_attribute_features = attributes_.n_ids() * k;
    const std::int32_t* path = finder_.path().data();
    std::int64_t differed = -topology_.order - 1;  // the last position where gold and path differ
    for (std::int64_t t = 0; t < n_used_; ++t) {
        if (gold[t] != path[t]) {
            differed = t;
            for_each_id(slots, begin + t, begin, end, [&](std::int32_t id, float value) {
                if (!attributes_.keeps(id)) return;
                change(id * k + gold[t], weight * value);
                change(id * k + path[t], -weight * value);
            });
        }
        if (t - differed > topology_.order) continue;
        n_grams_.for_each_cell(gold, t,
                               [&](std::int64_t cell) { change(n_attribute_features + cell, weight); });
        n_grams_.for_each_cell(path, t,
                               [&](std::int64_t cell) { change(n_attribute_features + cell, -weight); });
    }
}

void MarginLearner::change(std::int64_t feature, float amount) {
    const std::int64_t k = topology_.n_labels, n_attribute_features = attributes_.n_ids() * k;
    const auto before = static_cast<double>(n_vectors());
    if (feature < n_attribute_features) {
        attributes_.add(static_cast<std::int32_t>(feature / k), feature % k, amount, before);
    } else {
        n_grams_.add(feature - n_attribute_features, amount, before);
    }
    if (recorded_) changes_.push_back({feature, amount});
}

Voter::Voter(const Topology& topology, std::int64_t n_ids, std::int64_t beam, const Forbidden& forbidden)
    : k_(topology.n_labels),
      attributes_(std::vector<std::uint8_t>(static_cast<std::size_t>(n_ids), 1).data(), n_ids,
                  topology.n_labels, false),
      n_grams_(topology, true, false),
      finder_(topology, beam, forbidden) {}

// votes(t, y) += sum over vectors v of survived(v) [the best path of v has label y at t]
void Voter::vote(const WeightVectors& vectors, std::int64_t first, std::int64_t last, const Slots& slots,
                 const std::int64_t* starts, std::int64_t n_sequences, const std::int32_t* known,
                 double* votes) {
    const std::int64_t n_attribute_features = attributes_.n_ids() * k_;
    for (std::int64_t v = first; v < last; ++v) {
        for (std::int64_t c = vectors.starts[v]; c < vectors.starts[v + 1]; ++c) {
            const std::int64_t feature = vectors.features[c];
            if (feature < n_attribute_features) {
                attributes_.add(static_cast<std::int32_t>(feature / k_), feature % k_, vectors.amounts[c], 0);
            } else {
                n_grams_.add(feature - n_attribute_features, vectors.amounts[c], 0);
            }
        }
        for (std::int64_t i = 0; i < n_sequences; ++i) {
            const std::int64_t length = starts[i + 1] - starts[i];
            float* scores = finder_.label_scores(length);
            attributes_.score(slots, starts[i], starts[i + 1], scores);
            for (std::int64_t t = 0; known && t < length; ++t) {
                const std::int32_t label = known[starts[i] + t];
                for (std::int64_t y = 0; label >= 0 && y < k_; ++y)
                    if (y != label) scores[t * k_ + y] = Forbidden::kNever;
            }
            const std::vector<std::int32_t>& path = finder_.best(n_grams_.table());
            for (std::int64_t t = 0; t < length; ++t)
                votes[(starts[i] + t) * k_ + path[t]] += static_cast<double>(vectors.survived[v]);
        }
    }
}

void add_votes(const WeightVectors& vectors, const Topology& topology, std::int64_t beam,
               const Forbidden& forbidden, const AttributeView& attributes, const std::int32_t* known,
               double* votes, std::int64_t n_threads) {
    const std::int64_t n = attributes.n_sequences, n_pieces = std::min(n, n_threads);
    std::vector<Voter> voters(static_cast<std::size_t>(n_pieces),
                              Voter(topology, attributes.n_ids, beam, forbidden));
    for (std::int64_t v = 0; v < vectors.n; v += kVectorsPerPoll) {
        parallel_for(n_pieces, n_threads, [&] {
            return [&](std::int64_t p) {
                const std::int64_t first = p * n / n_pieces, last = (p + 1) * n / n_pieces;
                voters[p].vote(vectors, v, std::min(v + kVectorsPerPoll, vectors.n), attributes.slots,
                               attributes.starts + first, last - first, known, votes);
            };
        });
        poll_interrupt();
    }
}

}  // namespace hedgerow
