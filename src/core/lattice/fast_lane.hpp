// The fast lane: vector kernels for dense lattices of order 0 and 1, one set of them for each instruction
// set, chosen at run time.
//
// Sums are scaled instead of computed in logarithms. A kernel returns false if an underflow may have lost a
// path that matters, or if there is no path; the caller then uses lattice.hpp, which works in logarithms. So
// scores of any size are safe.
#pragma once

#include <cstdint>

#include "lattice/views.hpp"

namespace hedgerow {

// Work space of the kernels with a beam, and how much of it they need.
template <class Real>
struct BeamWork {
    Real* numbers;
    std::int32_t* places;
};
struct BeamSize {
    std::int64_t numbers, places;
};

// Numbers that kernels may write beyond the end of a row.
constexpr std::int64_t kPadding = 16;

constexpr std::int64_t kMostLanes = 8;  // of a vector of doubles
constexpr std::int64_t kTogether = 6;   // sequences that advance together

// From here on, pruned_max_sum is quicker than max_sum even where it can leave out little.
constexpr std::int64_t kManyLabels = 192;

// A transition table of which only some cells are listed: see sparse_table.hpp. Numbers are exp(score -
// shift).
struct SparseCells {             // the listed cells by label context, or by label
    const std::int32_t* order;   // [labels]: rows with equally many cells follow each other
    const std::int32_t* firsts;  // [labels + 1]
    const std::int32_t* others;  // [cells]: the labels, or the label contexts, in increasing order
    const double* exps;          // [cells]
    const double* excess;        // [cells]: exps less the base of the label
};
struct SparseTransitions {
    std::int64_t n_labels, n_cells;
    const double* start;  // [labels]: the start row
    const double* base;   // [labels]: cells that are not listed
    SparseCells by_context, by_label;
    const double* shifts;  // [2]: of the start row, of all others
};
// Where the marginals of a sequence go; a null part is not computed.
template <class Real>
struct SparseOut {
    Real* state;     // [length, K]
    double* counts;  // [K + cells + K]: of the start row, the listed cells, and all other cells of each label
    double weight;
    double rounder = 0;
};

template <class Real>
struct FastLane {
    // How many numbers of work space the kernels below need for a sequence of `length` positions.
    std::int64_t (*table_size)(std::int64_t n_labels);
    std::int64_t (*work_size)(std::int64_t n_labels, std::int64_t order, std::int64_t length,
                              bool per_position);

    // Order 1 with a table and no edge scores: exponentiates the table once for all sequences.
    void (*prepare)(const Real* table, std::int64_t n_labels, Real* prepared, double* shifts);

    // log Z and, where `out` is not null, marginals. `prepared` and `shifts` are read only if the scores have
    // no edge part and the order is 1.
    bool (*sum_product)(const Scores<Real>& scores, std::int64_t n_labels, std::int64_t order,
                        const Real* prepared, const double* shifts, const Marginals<Real>& out, Real* work,
                        double* log_z);

    // The same for n <= kTogether sequences of order 1. Without edge scores, the longest comes first: they
    // read the table together. is_safe: what sum_product returns. A table is added to only for sequences that
    // are safe. `work` has the work space of all.
    void (*sum_products)(const Scores<Real>* scores, std::int64_t n, std::int64_t n_labels,
                         const Real* prepared, const double* shifts, const Marginals<Real>* out, Real* work,
                         double* log_z, bool* is_safe);

    // The same for n <= sparse_together sequences of order 1 that share a sparse table, without edge scores.
    // Counts are added to only for sequences that are safe.
    void (*sparse_sums)(const SparseTransitions& table, const Scores<Real>* scores, std::int64_t n,
                        const SparseOut<Real>* out, double* work, double* log_z, bool* is_safe);
    std::int64_t (*sparse_work_size)(std::int64_t n_labels, std::int64_t n_cells, std::int64_t longest,
                                     std::int64_t n);
    std::int64_t sparse_together;
    void (*exponentials)(double* x, std::int64_t n);  // x <- exp(x), for x of at most 100

    // Best path and its score; without a path the score is minus infinity and the labels are 0. Equal to the
    // Max semiring of lattice.hpp to the last bit. `work` holds padded doubles.
    void (*max_sum)(const Scores<Real>& scores, std::int64_t n_labels, std::int64_t order,
                    std::int32_t* labels, double* work, double* score);
    std::int64_t (*max_work_size)(std::int64_t n_labels, std::int64_t length);

    // The same for order 1 with a table, without edge scores, and many labels: label contexts that cannot win
    // are left out. bound_table prepares the table for all sequences.
    std::int64_t (*bounded_table_size)(std::int64_t n_labels);
    void (*bound_table)(const Real* table, std::int64_t n_labels, double* prepared);
    void (*pruned_max_sum)(const Scores<Real>& scores, std::int64_t n_labels, const double* prepared,
                           std::int32_t* labels, double* work, double* score);
    std::int64_t (*pruned_work_size)(std::int64_t n_labels, std::int64_t length);

    // The same two for order 1 and a beam. beam_sum adds to a table only if it returns
    // true; beam_max leaves the labels alone when there is no path.
    bool (*beam_sum)(const Scores<Real>& scores, std::int64_t n_labels, const Beam& beam,
                     const Real* prepared, const double* shifts, const Marginals<Real>& out,
                     const BeamWork<Real>& work, double* log_z);
    BeamSize (*beam_sum_size)(std::int64_t n_labels, const Beam& beam, std::int64_t length,
                              bool per_position);
    void (*beam_max)(const Scores<Real>& scores, std::int64_t n_labels, const Beam& beam,
                     std::int32_t* labels, const BeamWork<double>& work, double* score);
    BeamSize (*beam_max_size)(std::int64_t n_labels, const Beam& beam, std::int64_t length);

    // kept <- the fewest of n logarithms of masses that leave out at
    // most the share `allowance` of the whole mass, and the index `also` unless it is negative; in increasing
    // order. Of equals the first is kept. Returns how many. `logs`, with room
    // for kPadding more, is overwritten; `heap` has room for n.
    std::int64_t (*keep_mass)(double* logs, std::int64_t n, double allowance, std::int64_t also,
                              std::int32_t* kept, std::int32_t* heap);
};

// The names of the instruction sets this processor has, best first, null at the end; and the one in use.
const char* const* instruction_sets();
const char* instruction_set();
// False if there is no such set here.
bool use_instruction_set(const char* name);

template <class Real>
const FastLane<Real>& fast_lane();

}  // namespace hedgerow
