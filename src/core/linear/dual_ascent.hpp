// Dual coordinate ascent for linear chains (Shalev-Shwartz & Zhang 2013; for CRFs Le Priol et al. 2018).
//
// The dual variables are distributions over the label sequences of each training sequence i. Only their
// marginals a_i matter, because the weights follow from them:
//
//     v = sum over i of weight_i (gold features - expected features under a_i) + 2 pull centre
//     w = soft(v, l1) / (2 (l2 + pull)),   soft(v, l1) = sign(v) max(|v| - l1, 0)
//
// The sequences of a batch move towards the marginals p_i of the current weights: a_i += step (p_i - a_i).
// The step maximises an estimate of the dual objective. With d = p - a its slope is the symmetric
// Kullback-Leibler divergence J of p and a, and its curvature J + |expected features under d|^2 / (2 (l2 +
// pull)), over the weights that are not 0. J is computed as the sum of 2 d^2 / (p + a) over states, which is
// below the divergence of the states.
//
// The penalty pull |w - centre|^2 is no part of the objective: it keeps the steps long where l2 is small, and
// vanishes at the optimum because the centre follows the weights (the proximal point method).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/attribute_reader.hpp"
#include "lattice/fast_lane.hpp"
#include "lattice/forbidden.hpp"
#include "lattice/general_sums.hpp"
#include "lattice/sparse_table.hpp"
#include "lattice/topology.hpp"
#include "linear/batches.hpp"
#include "linear/features.hpp"
#include "linear/scorer.hpp"
#include "util/task_team.hpp"

namespace hedgerow {

struct DualRules {
    double l1, l2, pull;  // l2 + pull is above 0
};

class DualAscent {
  public:
    // cells: the cells of the table that have a weight, in increasing order. With constraints the order of
    // the topology is at least 1. gold, weights: of all positions and sequences. sequences: those to learn
    // from. Weights start at 0: the distributions are certain of the gold labels.
    DualAscent(const AttributeView& attributes, const Features& features, const Topology& topology,
               std::vector<std::int64_t> cells, Forbidden forbidden, const std::int32_t* gold,
               const double* weights, const std::vector<std::int64_t>& sequences, const DualRules& rules,
               std::int64_t n_batches);

    std::int64_t n_batches() const { return batches_.size(); }

    // Visits the n batches of `order`; returns the mean step. caution: a factor of each step, at most 1. The
    // number of threads does not change a bit of the result.
    double sweep(const std::int64_t* order, std::int64_t n, double caution, std::int64_t n_threads);

    // centre <- the current weights.
    void move_centre();

    // OUT: the weights of features, then of cells.
    void weights(double* out) const;

  private:
    struct Feature {
        float v;
        std::int32_t output;
    };
    // What one thread needs.
    struct Work {
        std::vector<float> numbers;
        std::vector<double> sparse_numbers;
        GeneralSums<float> general_sums;
        std::vector<float> row;
        std::vector<float> weights;
    };
    // Sums over one task.
    struct Part {
        double divergence = 0, curvature = 0;
    };

    double learn(const Batches::Batch& batch, std::int64_t b, double caution, TaskTeam& team);
    void fill_table();
    std::int64_t sequences_together(std::int64_t n_sequences) const;
    void infer(const Batches::Batch& batch, std::int64_t first, std::int64_t last, Work& work);
    void infer_all(const Scores<float>& scores, const Marginals<float>& out, Work& work);
    void infer_sparse(const Scores<float>* scores, std::int64_t n, const SparseOut<float>* out, Work& work);
    double compare(const Batches::Batch& batch, std::int64_t s);
    void sum_biases();
    double sum_attributes(const Batches::Batch& batch, std::int64_t task, Work& work);
    double sum_n_grams(const Batches::Batch& batch, std::int64_t b);
    void move_attributes(const Batches::Batch& batch, std::int64_t task, double step, Work& work);
    void move_residuals(const Batches::Sequence& sequence, double step);
    void move_n_grams(std::int64_t b, double step);
    void sum_rows(const Batches::Batch& batch, std::int64_t i, float* row) const;

    float weight_of(float v) const;
    float square_of(float change, float v) const;

    AttributeView attributes_;
    Features features_;
    Topology topology_;
    std::vector<std::int64_t> cells_;
    Forbidden forbidden_;
    const std::int32_t* gold_;
    const double* sequence_weights_;
    DualRules rules_;
    Batches batches_;
    Scorer scorer_;
    std::vector<Feature> states_;   // the state features
    std::vector<float> n_grams_;    // v of cells_
    std::vector<float> centre_;     // of state features, then cells_
    float least_, inverse_;         // l1, and 1 / (2 (l2 + pull))
    std::vector<float> residuals_;  // (positions, labels): weight (a - gold), in the order of the data
    std::vector<double> n_gram_residuals_;  // (batches, cells): the same for n-grams
    // Of the batch that is visited:
    std::vector<float> table_, prepared_;
    double shifts_[2] = {0, 0};
    std::optional<SparseTable> sparse_;  // the table, if most cells have no weight
    std::vector<std::int64_t> places_;   // of cells_ among the counts of the sparse table
    bool has_biases_;                    // whether cells_ has some of the start row, which apply to every row
    std::vector<float> state_;           // (rows, labels): scores
    std::vector<float> changes_;         // (rows, labels): weight (p - a)
    std::int64_t n_counts_;              // cells of the table, or counts of the sparse table
    std::vector<double> counts_;         // (sequences, n_counts_): expected minus gold
    std::vector<float> sums_;            // of changes over the occurrences of each feature
    std::vector<double> cell_sums_;      // the same for cells_
    std::vector<Part> parts_;            // of the tasks
    std::vector<Work> work_;             // of the threads
};

}  // namespace hedgerow
