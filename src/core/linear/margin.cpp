#include "linear/margin.hpp"

#include <algorithm>

#include "lattice/lattice.hpp"
#include "lattice/path_score.hpp"
#include "linear/path_difference.hpp"
#include "util/parallel.hpp"
#include "util/rounds.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kVectorsPerPoll = 16;  // weight vectors that vote between two polls for interrupts

}  // namespace

const float* PathFinder::constrained(const float* table) {
    if (!forbidden_.any()) return table;
    forbidden_.apply(scores_topology_, table, table_);
    return table_.data();
}

void PathFinder::bound(const float* table, std::vector<double>& bounded) const {
    const std::int64_t k = topology_.n_labels;
    if (beam_ > 0 || topology_.order != 1 || k < kManyLabels || forbidden_.any()) return bounded.clear();
    const FastLane<float>& lane = fast_lane<float>();
    bounded.resize(static_cast<std::size_t>(lane.bounded_table_size(k)));
    lane.bound_table(table, k, bounded.data());
}

bool PathFinder::search(const float* table, const std::vector<double>& bounded) {
    std::fill(path_.begin(), path_.end(), 0);
    const FastLane<float>& lane = fast_lane<float>();
    const std::int64_t k = topology_.n_labels;
    double score;
    if (!bounded.empty()) {
        lane.pruned_max_sum(scores(table), k, bounded.data(), path_.data(),
                            work(lane.pruned_work_size(k, length_)), &score);
        return score != kMinusInfinity;
    }
    if (beam_ == 0 && topology_.order <= 1) {
        lane.max_sum(scores(table), k, topology_.order, path_.data(), work(lane.max_work_size(k, length_)),
                     &score);
        return score != kMinusInfinity;
    }
    const Beam beam = Beam::of(beam_);
    if (topology_.order == 1) {
        lane.beam_max(scores(table), k, beam, path_.data(), room_.of(lane.beam_max_size(k, beam, length_)),
                      &score);
        return score != kMinusInfinity;
    }
    Lattice<Max, ScoreReader<float>> lattice(topology_, max_, {topology_, scores(table)}, beam);
    if (lattice.forward() == kMinusInfinity) return false;
    lattice.trace(1.0, path_.data());
    return true;
}

const std::vector<std::int32_t>& PathFinder::best(const float* table, const std::vector<double>& bounded) {
    forbidden_.apply_to_end(label_scores_.data() + (length_ - 1) * topology_.n_labels);
    found_ = search(constrained(table), bounded);
    return path_;
}

bool PathFinder::next_best(const float* table) {
    table = constrained(table);
    Lattice<Best, ScoreReader<float>> lattice(topology_, second_, {topology_, scores(table)},
                                              Beam::of(beam_));
    lattice.forward();
    if (second_.value(lattice.goal(), 1) == kMinusInfinity) return false;
    lattice.trace(2.0, path_.data());
    return true;
}

std::int64_t PathFinder::positions_with_gold(const float* table, const std::int32_t* gold) {
    table = constrained(table);
    Lattice<Max, ScoreReader<float>> lattice(topology_, max_, {topology_, scores(table)}, Beam::of(beam_));
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

void MarginLearner::start_from(const std::int64_t* starts, const std::int32_t* labels, const float* weights,
                               const float* cells, std::int64_t n_seen) {
    n_seen_ = n_seen;
    n_vectors_ = 0;
    for (std::int64_t id = 0; id < attributes_.n_ids(); ++id) {
        for (std::int64_t f = starts[id]; f < starts[id + 1]; ++f)
            attributes_.add(static_cast<std::int32_t>(id), labels[f], weights[f], 0.0);
    }
    for (std::size_t cell = 0; cell < n_grams_.size(); ++cell)
        if (cells[cell] != 0) n_grams_.add(static_cast<std::int64_t>(cell), cells[cell], 0.0);
}

std::int64_t MarginLearner::learn(const OnlineExamples& examples, std::int64_t batch,
                                  std::int64_t n_threads) {
    std::int64_t n_violations = 0;
    const std::int64_t seen = n_seen_;
    const std::vector<std::int64_t> numbers = longest_first(examples, batch);
    std::vector<Violation> violations(static_cast<std::size_t>(std::min(batch, examples.n)));
    const PathFinder finder(topology_, rules_.beam, forbidden_);
    finder.bound(n_grams_.table(), bounded_);
    parallel_rounds(
        examples.n, batch, n_threads,
        [&] {
            return [&, finder = Finder{{topology_, rules_.beam, forbidden_}, {}}](std::int64_t n) mutable {
                const std::int64_t i = numbers[n];
                const auto t = static_cast<double>(seen + i + 1);
                find(examples[i], rules_.margin + rules_.growth * t, finder, violations[i % batch]);
            };
        },
        [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) prefetch_weights(examples[i], violations[i % batch]);
            bool changed = false;  // the weights, since the paths were found
            for (std::int64_t i = first; i < last; ++i) {
                Violation& violation = violations[i % batch];
                n_violations += violation.found;
                if (violation.found && changed) violation.found = is_valid(examples[i], violation);
                learn_from(examples[i], violation);
                changed |= violation.found;
            }
            if (changed) finder.bound(n_grams_.table(), bounded_);
        });
    return n_violations;
}

void MarginLearner::learn_from(const OnlineExample& example, const Violation& violation) {
    if (violation.found) update(example, violation);
    ++n_seen_;
    ++n_vectors_;
    if (!recorded_) return;
    if (violation.found) {
        change_starts_.push_back(static_cast<std::int64_t>(changes_.size()));
        survived_.push_back(0);
    }
    ++survived_.back();
}

void MarginLearner::find(const OnlineExample& example, double margin, Finder& finder,
                         Violation& violation) const {
    const std::int64_t k = topology_.n_labels, length = example.length();
    float* scores = finder.paths.label_scores(length);
    attributes_.score(example.slots, example.begin, example.end, example.begin, example.end, scores,
                      finder.buffers);
    if (rules_.hamming && margin > 0) {
        for (std::int64_t t = 0; t < length; ++t)
            for (std::int64_t y = 0; y < k; ++y)
                if (y != example.gold[t]) scores[t * k + y] += static_cast<float>(margin);
    }
    violation.found = violates(example, margin, finder.paths, violation.n_used);
    if (violation.found) violation.path = finder.paths.path();
}

// Whether score(path) + margin > score(gold) for some wrong path. If so, `paths` holds that path.
// OUT: n_used, the number of positions to learn from.
bool MarginLearner::violates(const OnlineExample& example, double margin, PathFinder& paths,
                             std::int64_t& n_used) const {
    const float* table = n_grams_.table();
    const std::vector<std::int32_t>& path = paths.best(table, bounded_);
    const std::int32_t* gold = example.gold;
    n_used = example.length();
    const bool wrong = !std::equal(path.begin(), path.end(), gold);
    if (!wrong && !rules_.hamming && margin > 0) {
        return paths.next_best(table) &&
               paths.score(table, path.data(), n_used) + margin > paths.score(table, gold, n_used);
    }
    if (wrong && (rules_.early || !paths.found())) n_used = paths.positions_with_gold(table, gold);
    return wrong;
}

// Prefetches the weights that an update changes: most of them are not in the cache.
void MarginLearner::prefetch_weights(const OnlineExample& example, const Violation& violation) const {
    const std::int32_t *gold = example.gold, *path = violation.path.data();
    for (std::int64_t t = 0; violation.found && t < violation.n_used; ++t) {
        if (gold[t] == path[t]) continue;
        for_each_id(example.slots, example.begin + t, example.begin, example.end,
                    [&](std::int32_t id, float) {
                        attributes_.prefetch_weight(id, gold[t]);
                        attributes_.prefetch_weight(id, path[t]);
                    });
    }
}

// Whether the path still scores too high. With a beam and no early updates, also paths are learned from that
// never scored higher than gold.
bool MarginLearner::is_valid(const OnlineExample& example, const Violation& violation) const {
    if (rules_.beam > 0 && !rules_.early) return true;
    const std::int32_t *gold = example.gold, *path = violation.path.data();
    const double margin = rules_.margin + rules_.growth * static_cast<double>(n_seen_ + 1);
    double ahead = rules_.hamming ? 0.0 : margin;  // score(path) + margin - score(gold)
    for_each_difference(
        n_grams_, topology_.order, gold, path, violation.n_used,
        [&](std::int64_t t) {
            if (rules_.hamming) ahead += margin;
            for_each_id(example.slots, example.begin + t, example.begin, example.end,
                        [&](std::int32_t id, float value) {
                            const RowView row = attributes_.row(id);
                            ahead += static_cast<double>(value) *
                                     (static_cast<double>(row[path[t]]) - static_cast<double>(row[gold[t]]));
                        });
        },
        [&](const std::int32_t* labels, std::int64_t cell) {
            const auto weight = static_cast<double>(n_grams_.values()[cell]);
            ahead += labels == path ? weight : -weight;
        });
    return ahead > 0;
}

// weights += weight (features of gold - features of the path), over the first n_used positions.
void MarginLearner::update(const OnlineExample& example, const Violation& violation) {
    const std::int64_t k = topology_.n_labels, n_attribute_features = attributes_.n_ids() * k;
    const std::int32_t *gold = example.gold, *path = violation.path.data();
    const float weight = example.weight;
    for_each_difference(
        n_grams_, topology_.order, gold, path, violation.n_used,
        [&](std::int64_t t) {
            for_each_id(example.slots, example.begin + t, example.begin, example.end,
                        [&](std::int32_t id, float value) {
                            if (!attributes_.keeps(id)) return;
                            change(id * k + gold[t], weight * value);
                            change(id * k + path[t], -weight * value);
                        });
        },
        [&](const std::int32_t* labels, std::int64_t cell) {
            change(n_attribute_features + cell, labels == gold ? weight : -weight);
        });
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

Voter::Voter(const Topology& topology, std::int64_t n_ids, double beam, const Forbidden& forbidden)
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
            attributes_.score(slots, starts[i], starts[i + 1], starts[i], starts[i + 1], scores, buffers_);
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

void add_votes(const WeightVectors& vectors, const Topology& topology, double beam,
               const Forbidden& forbidden, const AttributeView& attributes, const std::int32_t* known,
               double* votes, std::int64_t n_threads) {
    const std::int64_t n = attributes.n_sequences, n_pieces = std::min(n, n_threads);
    std::vector<Voter> voters;
    for (std::int64_t p = 0; p < n_pieces; ++p)
        voters.emplace_back(topology, attributes.n_ids, beam, forbidden);
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
