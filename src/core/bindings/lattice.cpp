// Lattices of many sequences: checks every shape, spreads sequences over threads without the GIL, and sends
// each to the fast lane where that can answer, to the general sweep where it cannot.
#include "lattice/lattice.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "lattice/fast_lane.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

using Starts = Input<std::int64_t, 1>;
using Labels = Input<std::int32_t, 1>;

constexpr std::int64_t kChunk = 2048;     // positions a thread takes at a time ...
constexpr std::int64_t kWork = 1 << 20;   // ... or fewer, where they have more edges than this
constexpr std::int64_t kSmall = 1 << 14;  // below this many label scores, threads cost more than they give
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 40;

// A batch of lattices: everything a sweep needs, checked.
template <class Real>
struct Batch {
    Topology topology;
    Starts starts;
    std::optional<Input<Real, 2>> state;
    std::optional<Input<Real, 3>> edge;
    std::optional<Input<Real, 2>> table;
    std::int64_t beam;
    std::optional<Labels> keep;
    std::int64_t n_threads;
    bool general;  // never the fast lane

    std::int64_t n_sequences() const { return static_cast<std::int64_t>(starts.shape(0)) - 1; }
    std::int64_t n_positions() const { return starts.data()[n_sequences()]; }
    std::int64_t n_labels() const { return topology.n_labels; }
    std::int64_t first(std::int64_t i) const { return starts.data()[i]; }
    std::int64_t length(std::int64_t i) const { return first(i + 1) - first(i); }
    std::int64_t pair_size() const { return topology.n_histories() * n_labels(); }
    bool fast() const { return !general && beam == 0 && topology.order <= 1; }
    bool fast_beam() const { return !general && beam > 0 && beam < n_labels() && topology.order == 1; }
    Beam beam_of(std::int64_t i) const { return {beam, keep ? keep->data() + first(i) : nullptr}; }

    Scores<Real> scores(std::int64_t i) const {
        return {length(i), state ? state->data() + first(i) * n_labels() : nullptr,
                edge ? edge->data() + first(i) * pair_size() : nullptr, table ? table->data() : nullptr};
    }

    void check() const {
        require(n_labels() >= 1 && topology.order >= 0 && beam >= 0 && n_threads >= 1,
                "n_labels and n_threads are at least 1, order and beam at least 0");
        double rows = 1;
        for (std::int64_t m = 0; m <= topology.order; ++m) rows *= static_cast<double>(n_labels());
        require(rows < static_cast<double>(kMostNumbers), "K^(order + 1) is too large");
        require(starts.shape(0) >= 2 && first(0) == 0,
                "starts begins with 0 and names at least one sequence");
        for (std::int64_t i = 0; i < n_sequences(); ++i)
            require(length(i) > 0, "every sequence has a position");
        const auto k = static_cast<std::size_t>(n_labels());
        const auto positions = static_cast<std::size_t>(n_positions());
        if (state)
            require(state->shape(0) == positions && state->shape(1) == k, "state is (positions, labels)");
        if (edge) {
            require(edge->shape(0) == positions && edge->shape(2) == k &&
                        edge->shape(1) == static_cast<std::size_t>(topology.n_histories()),
                    "edge is (positions, labels^order, labels)");
        }
        if (table) {
            require(table->shape(0) == static_cast<std::size_t>(topology.n_rows()) && table->shape(1) == k,
                    "table is (histories of every length up to order, labels)");
        }
        if (keep) {
            require(keep->shape(0) == positions, "keep has one label for each position");
            for (std::size_t t = 0; t < positions; ++t) {
                require(keep->data()[t] >= -1 && keep->data()[t] < n_labels(),
                        "labels to keep are below n_labels, or -1 for none");
            }
        }
    }

    // Runs make_worker()(i) for every sequence i, on threads.
    template <class MakeWorker>
    void each(MakeWorker make_worker) const {
        const std::int64_t size = std::min(kChunk, kWork / pair_size() + 1);
        const std::vector<std::int64_t> cuts = chunks(starts.data(), n_sequences(), size);
        const std::int64_t work = n_positions() * pair_size();
        const nb::gil_scoped_release release;
        parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, work < kSmall ? 1 : n_threads, [&] {
            return [&, worker = make_worker()](std::int64_t c) mutable {
                for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) worker(i);
            };
        });
    }

    // Runs f(lattice, i) with the general sweep of one semiring for every sequence.
    template <template <class> class Reader = ScoreReader, class Semiring, class F>
    void sweep(const Semiring& model, F f) const {
        each([&] {
            return [&, semiring = std::make_shared<Semiring>(model)](std::int64_t i) {
                Lattice<Semiring, Reader<Real>> lattice(topology, *semiring, {topology, scores(i)},
                                                        beam_of(i));
                f(lattice, *semiring, i);
            };
        });
    }
};

// Batch::sweep for sums: each sequence is swept with the precision that its scores need.
template <template <class> class Semiring, class Real, class F>
void sweep_sums(const Batch<Real>& batch, F f) {
    batch.each([&] {
        return [&, plain = Semiring<double>(), exact = Semiring<DoubleDouble>()](std::int64_t i) mutable {
            const auto sweep = [&](auto& semiring) {
                Lattice<std::decay_t<decltype(semiring)>, ScoreReader<Real>> lattice(
                    batch.topology, semiring, {batch.topology, batch.scores(i)}, batch.beam_of(i));
                f(lattice, semiring, i);
            };
            are_ordinary(batch.topology, batch.scores(i)) ? sweep(plain) : sweep(exact);
        };
    });
}

// The exponentiated table that all sequences share.
template <class Real>
struct Prepared {
    std::vector<Real> rows;
    double shifts[2] = {0, 0};

    explicit Prepared(const Batch<Real>& batch) {
        if (!(batch.fast() || batch.fast_beam()) || batch.edge || batch.topology.order != 1) return;
        const std::int64_t k = batch.n_labels();
        rows.resize(static_cast<std::size_t>(fast_lane<Real>().table_size(k)));
        const std::vector<Real> zeros(batch.table ? 0 : static_cast<std::size_t>((k + 1) * k));
        fast_lane<Real>().prepare(batch.table ? batch.table->data() : zeros.data(), k, rows.data(), shifts);
    }
};

// Work space of the fast lane under a beam, which grows to what the longest sequence needs.
template <class Real>
class BeamRoom {
  public:
    BeamWork<Real> of(const BeamSize& size) {
        const auto numbers = static_cast<std::size_t>(size.numbers),
                   places = static_cast<std::size_t>(size.places);
        if (numbers_.size() < numbers) numbers_.resize(numbers);
        if (places_.size() < places) places_.resize(places);
        return {numbers_.data(), places_.data()};
    }

  private:
    std::vector<Real> numbers_;
    std::vector<std::int32_t> places_;
};

template <class Real, class Semiring>
void general_marginals(const Batch<Real>& batch, const Marginals<Real>& out, Semiring& semiring,
                       std::int64_t i, double* log_z) {
    const std::int64_t k = batch.n_labels(), pair_size = batch.pair_size(), length = batch.length(i);
    Lattice<Semiring, ScoreReader<Real>> lattice(batch.topology, semiring, {batch.topology, batch.scores(i)},
                                                 batch.beam_of(i));
    *log_z = lattice.forward();
    if (out.state) std::fill_n(out.state, length * k, Real(0));
    if (out.pair) std::fill_n(out.pair, length * pair_size, Real(0));
    if (*log_z == kMinusInfinity || !(out.state || out.pair || out.table)) return;
    std::vector<double> state(out.state ? static_cast<std::size_t>(k) : 0);
    std::int64_t at = length;
    const auto write_state = [&] {
        if (!out.state || at == length) return;
        for (std::int64_t y = 0; y < k; ++y) out.state[at * k + y] = static_cast<Real>(state[y]);
        std::fill(state.begin(), state.end(), 0.0);
    };
    lattice.reverse(1.0, [&](std::int64_t t, std::int64_t h, std::int64_t y, double w, double) {
        if (t == length) return;
        if (t != at) {
            write_state();
            at = t;
        }
        if (out.state) state[y] += w;
        if (out.pair) {
            out.pair[t * pair_size + (batch.topology.order == 0 ? 0 : h) * k + y] += static_cast<Real>(w);
        }
        if (out.table) {
            out.table[(batch.topology.first_row(t) + (batch.topology.order == 0 ? 0 : h)) * k + y] +=
                out.weight * w;
        }
    });
    write_state();
}

// One sequence: the fast lane if it can certify its answer, the general sweep if not.
template <class Real>
class SumWorker {
  public:
    SumWorker(const Batch<Real>& batch, const Prepared<Real>& prepared)
        : batch_(batch), prepared_(prepared) {}

    void operator()(std::int64_t i, const Marginals<Real>& out, double* log_z) {
        const FastLane<Real>& lane = fast_lane<Real>();
        const bool sums_edges = out.table && batch_.edge;
        if (batch_.fast() && !sums_edges) {
            const auto size = static_cast<std::size_t>(lane.work_size(
                batch_.n_labels(), batch_.topology.order, batch_.length(i), batch_.edge.has_value()));
            if (work_.size() < size) work_.resize(size);
            kept_.clear();
            if (out.table) kept_.assign(out.table, out.table + table_size());
            if (lane.sum_product(batch_.scores(i), batch_.n_labels(), batch_.topology.order,
                                 prepared_.rows.data(), prepared_.shifts, out, work_.data(), log_z)) {
                return;
            }
            std::copy(kept_.begin(), kept_.end(), out.table);
        }
        if (batch_.fast_beam()) {
            const BeamSize size =
                lane.beam_sum_size(batch_.n_labels(), batch_.beam, batch_.length(i), batch_.edge.has_value());
            if (lane.beam_sum(batch_.scores(i), batch_.n_labels(), batch_.beam_of(i), prepared_.rows.data(),
                              prepared_.shifts, out, room_.of(size), log_z)) {
                return;
            }
        }
        if (are_ordinary(batch_.topology, batch_.scores(i))) {
            general_marginals(batch_, out, log_sum_, i, log_z);
        } else {
            general_marginals(batch_, out, exact_log_sum_, i, log_z);
        }
    }
    std::int64_t table_size() const { return batch_.topology.n_rows() * batch_.n_labels(); }

  private:
    const Batch<Real>& batch_;
    const Prepared<Real>& prepared_;
    std::vector<Real> work_;
    BeamRoom<Real> room_;
    std::vector<double> kept_;  // sums before this sequence, for when the fast lane gives up half-way
    LogSum<double> log_sum_;
    LogSum<DoubleDouble> exact_log_sum_;
};

// log Z of every sequence and, where asked for, marginals.
template <class Real>
nb::tuple sum_over_paths(const Batch<Real>& batch, bool want_state, bool want_pair) {
    batch.check();
    const auto n = static_cast<std::size_t>(batch.n_positions()),
               k = static_cast<std::size_t>(batch.n_labels());
    const auto h = static_cast<std::size_t>(batch.topology.n_histories());
    Output<double, 1> log_z({static_cast<std::size_t>(batch.n_sequences())});
    std::optional<Output<Real, 2>> state;
    std::optional<Output<Real, 3>> pair;
    if (want_state) state.emplace(std::array<std::size_t, 2>{n, k});
    if (want_pair) pair.emplace(std::array<std::size_t, 3>{n, h, k});
    const Prepared<Real> prepared(batch);
    batch.each([&] {
        return [&, worker = SumWorker<Real>(batch, prepared)](std::int64_t i) mutable {
            const std::int64_t first = batch.first(i);
            worker(i,
                   {state ? state->data() + first * batch.n_labels() : nullptr,
                    pair ? pair->data() + first * batch.pair_size() : nullptr, nullptr, 1.0},
                   log_z.data() + i);
        };
    });
    return nb::make_tuple(log_z.array(), state ? nb::cast(state->array()) : nb::none(),
                          pair ? nb::cast(pair->array()) : nb::none());
}

// log Z, state marginals, and the pair marginals of all positions summed by table row, times the weight of
// their sequence. Sums are made chunk by chunk and added in the order of the chunks, whatever the threads.
template <class Real>
nb::tuple sum_pairs(const Batch<Real>& batch, std::optional<Input<double, 1>> weights) {
    batch.check();
    require(!weights || weights->shape(0) == static_cast<std::size_t>(batch.n_sequences()),
            "a weight a sequence");
    const auto k = static_cast<std::size_t>(batch.n_labels()),
               rows = static_cast<std::size_t>(batch.topology.n_rows());
    Output<double, 1> log_z({static_cast<std::size_t>(batch.n_sequences())});
    Output<Real, 2> state({static_cast<std::size_t>(batch.n_positions()), k});
    Output<double, 2> table({rows, k});
    const Prepared<Real> prepared(batch);
    // A chunk for each sum of tables: not more of them than the state marginals could hold.
    const std::vector<std::int64_t> cuts =
        chunks(batch.starts.data(), batch.n_sequences(), std::max(kChunk, static_cast<std::int64_t>(rows)));
    const std::size_t n_chunks = cuts.size() - 1;
    std::vector<double> parts(n_chunks * rows * k, 0.0);
    {
        const nb::gil_scoped_release release;
        parallel_for(static_cast<std::int64_t>(n_chunks), batch.n_threads, [&] {
            return [&, worker = SumWorker<Real>(batch, prepared)](std::int64_t c) mutable {
                for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) {
                    worker(i,
                           {state.data() + batch.first(i) * batch.n_labels(), nullptr,
                            parts.data() + static_cast<std::size_t>(c) * rows * k,
                            weights ? weights->data()[i] : 1.0},
                           log_z.data() + i);
                }
            };
        });
    }
    std::fill_n(table.data(), rows * k, 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) table.data()[i % (rows * k)] += parts[i];
    return nb::make_tuple(log_z.array(), state.array(), table.array());
}

// Best path of every sequence: its score (minus infinity where there is none) and its labels.
template <class Real>
nb::tuple best_path(const Batch<Real>& batch) {
    batch.check();
    Output<double, 1> score({static_cast<std::size_t>(batch.n_sequences())});
    Output<std::int32_t, 1> labels({static_cast<std::size_t>(batch.n_positions())});
    std::fill_n(labels.data(), batch.n_positions(), 0);
    if (batch.fast()) {
        const FastLane<Real>& lane = fast_lane<Real>();
        batch.each([&] {
            return [&, work = std::vector<double>()](std::int64_t i) mutable {
                const auto size =
                    static_cast<std::size_t>(lane.max_work_size(batch.n_labels(), batch.length(i)));
                if (work.size() < size) work.resize(size);
                lane.max_sum(batch.scores(i), batch.n_labels(), batch.topology.order,
                             labels.data() + batch.first(i), work.data(), score.data() + i);
            };
        });
    } else if (batch.fast_beam()) {
        const FastLane<Real>& lane = fast_lane<Real>();
        batch.each([&] {
            return [&, room = BeamRoom<double>()](std::int64_t i) mutable {
                lane.beam_max(batch.scores(i), batch.n_labels(), batch.beam_of(i),
                              labels.data() + batch.first(i),
                              room.of(lane.beam_max_size(batch.n_labels(), batch.beam, batch.length(i))),
                              score.data() + i);
            };
        });
    } else {
        batch.sweep(Max(), [&](auto& lattice, Max&, std::int64_t i) {
            score.data()[i] = lattice.forward();
            lattice.reverse(1.0, [&](std::int64_t t, std::int64_t, std::int64_t y, double, double) {
                if (t < batch.length(i)) labels.data()[batch.first(i) + t] = static_cast<std::int32_t>(y);
            });
        });
    }
    return nb::make_tuple(score.array(), labels.array());
}

// The n best paths: scores (sequences, n), minus infinity where there are fewer, and labels (n, positions).
template <class Real>
nb::tuple best_paths(const Batch<Real>& batch, std::int64_t n) {
    batch.check();
    require(n >= 1, "n is at least 1");
    const auto ranks = static_cast<std::size_t>(n);
    Output<double, 2> score({static_cast<std::size_t>(batch.n_sequences()), ranks});
    Output<std::int32_t, 2> labels({ranks, static_cast<std::size_t>(batch.n_positions())});
    std::fill_n(labels.data(), n * batch.n_positions(), 0);
    batch.sweep(Best(n), [&](auto& lattice, Best& best, std::int64_t i) {
        lattice.forward();
        for (std::int64_t r = 0; r < n; ++r) {
            score.data()[i * n + r] = best.value(lattice.goal(), r);
            std::int32_t* path = labels.data() + r * batch.n_positions() + batch.first(i);
            lattice.reverse(static_cast<double>(r + 1),
                            [&](std::int64_t t, std::int64_t, std::int64_t y, double, double) {
                                if (t < batch.length(i)) path[t] = static_cast<std::int32_t>(y);
                            });
        }
    });
    return nb::make_tuple(score.array(), labels.array());
}

// Exact samples: log Z of every sequence, and labels (n, positions).
template <class Real>
nb::tuple sample_paths(const Batch<Real>& batch, std::int64_t n, std::uint64_t seed) {
    batch.check();
    require(n >= 1, "n is at least 1");
    Output<double, 1> log_z({static_cast<std::size_t>(batch.n_sequences())});
    Output<std::int32_t, 2> labels(
        {static_cast<std::size_t>(n), static_cast<std::size_t>(batch.n_positions())});
    std::fill_n(labels.data(), n * batch.n_positions(), 0);
    sweep_sums<Draw>(batch, [&](auto& lattice, auto& draw, std::int64_t i) {
        log_z.data()[i] = lattice.forward();
        if (log_z.data()[i] == kMinusInfinity) return;
        // A stream of its own for each (seed, sequence), so that threads cannot change it.
        Random streams(Random(seed).bits() ^ static_cast<std::uint64_t>(i));
        for (std::int64_t r = 0; r < n; ++r) {
            draw.seed(Random(streams.bits()));
            std::int32_t* path = labels.data() + r * batch.n_positions() + batch.first(i);
            lattice.reverse(1.0, [&](std::int64_t t, std::int64_t, std::int64_t y, double, double) {
                if (t < batch.length(i)) path[t] = static_cast<std::int32_t>(y);
            });
        }
    });
    return nb::make_tuple(log_z.array(), labels.array());
}

// Shannon entropy (nats) of the distribution over paths: every ⊕-node adds its weight times the entropy of
// how it shares that weight out. Minus infinity where there is no path.
template <class Real>
nb::object path_entropy(const Batch<Real>& batch) {
    batch.check();
    Output<double, 1> entropy({static_cast<std::size_t>(batch.n_sequences())});
    sweep_sums<LogSum>(batch, [&](auto& lattice, auto&, std::int64_t i) {
        double sum = 0;
        const bool any = lattice.forward() != kMinusInfinity;
        lattice.reverse(any ? 1.0 : 0.0,
                        [&](std::int64_t, std::int64_t, std::int64_t, double w, double node) {
                            if (w > 0) sum -= w * std::log(w / node);
                        });
        entropy.data()[i] = any ? sum : kMinusInfinity;
    });
    return nb::cast(entropy.array());
}

// Log of the number of paths that are not forbidden.
template <class Real>
nb::object log_path_count(const Batch<Real>& batch) {
    batch.check();
    Output<double, 1> count({static_cast<std::size_t>(batch.n_sequences())});
    batch.template sweep<SupportReader>(
        LogSum<double>(), [&](auto& lattice, auto&, std::int64_t i) { count.data()[i] = lattice.forward(); });
    return nb::cast(count.array());
}

// The score of one given path for every sequence.
template <class Real>
nb::object path_score(const Batch<Real>& batch, const Labels& labels) {
    batch.check();
    require(labels.shape(0) == static_cast<std::size_t>(batch.n_positions()), "one label for each position");
    for (std::int64_t t = 0; t < batch.n_positions(); ++t) {
        require(labels.data()[t] >= 0 && labels.data()[t] < batch.n_labels(), "labels are below n_labels");
    }
    Output<double, 1> score({static_cast<std::size_t>(batch.n_sequences())});
    const Topology& topology = batch.topology;
    batch.each([&] {
        return [&](std::int64_t i) {
            const ScoreReader<Real> reader(topology, batch.scores(i));
            const std::int32_t* path = labels.data() + batch.first(i);
            double sum = 0;
            for (std::int64_t t = 0; t < batch.length(i); ++t) {
                std::int64_t history = 0;
                for (std::int64_t back = 1; back <= std::min(t, topology.order); ++back) {
                    history = history * topology.n_labels + path[t - back];
                }
                sum += reader.template read<double>(t, topology.first_row(t), history, path[t]);
            }
            score.data()[i] = sum;
        };
    });
    return nb::cast(score.array());
}

template <class Real>
void register_batch(nb::module_& m, const char* name) {
    using B = Batch<Real>;
    nb::class_<B>(m, name)
        .def(
            "__init__",
            [](B* self, std::int64_t n_labels, std::int64_t order, Starts starts,
               std::optional<Input<Real, 2>> state, std::optional<Input<Real, 3>> edge,
               std::optional<Input<Real, 2>> table, std::int64_t beam, std::optional<Labels> keep,
               std::int64_t n_threads, bool general) {
                const B batch{{n_labels, order}, starts, state, edge, table, beam, keep, n_threads, general};
                batch.check();
                new (self) B(batch);
            },
            nb::arg("n_labels"), nb::arg("order"), nb::arg("starts"), nb::arg("state").none(),
            nb::arg("edge").none(), nb::arg("table").none(), nb::arg("beam"), nb::arg("keep").none(),
            nb::arg("n_threads"), nb::arg("general"), "Checked scores of a batch of sequences; no beam is 0.")
        .def("sum_over_paths", &sum_over_paths<Real>, nb::arg("want_state"), nb::arg("want_pair"),
             "(log Z, state marginals or None, pair marginals or None)")
        .def("sum_pairs", &sum_pairs<Real>, nb::arg("weights").none(),
             "(log Z, state marginals, pair marginals summed over positions)")
        .def("best_path", &best_path<Real>, "(scores, labels)")
        .def("best_paths", &best_paths<Real>, nb::arg("n"), "(scores by sequence and rank, labels by rank)")
        .def("sample_paths", &sample_paths<Real>, nb::arg("n"), nb::arg("seed"), "(log Z, labels by draw)")
        .def("path_entropy", &path_entropy<Real>, "Entropy of each sequence's paths, in nats.")
        .def("log_path_count", &log_path_count<Real>, "Log of the number of allowed paths.")
        .def("path_score", &path_score<Real>, nb::arg("labels"), "Score of the given path.");
}

}  // namespace

void register_lattice(nb::module_& m) {
    register_batch<float>(m, "LatticeBatch32");
    register_batch<double>(m, "LatticeBatch64");
    m.def(
        "instruction_sets",
        [] {
            std::vector<std::string> names;
            for (const char* const* name = instruction_sets(); *name; ++name) names.emplace_back(*name);
            return names;
        },
        "The vector instruction sets this processor has, best first.");
    m.def("instruction_set", [] { return std::string(instruction_set()); }, "The one in use.");
    m.def(
        "use_instruction_set",
        [](const std::string& name) {
            require(use_instruction_set(name.c_str()), "no such instruction set here");
        },
        nb::arg("name"), "Chooses another one, for tests and benchmarks.");
}

}  // namespace hedgerow
