// The wrong paths of one training sequence that the dual solution of a structured SVM may use.
//
// The dual variables of a sequence are shares of its paths, at least 0 and 1 in sum. With psi_z = features of
// gold - features of path z, the cost c of the sequence, and the weights w = sum over sequences of
// c sum over z of share_z psi_z, the dual objective is
//
//     sum over sequences of c sum over z of share_z loss_z  -  1/2 |w|^2
//
// A path has the slope loss_z - w psi_z: c times the difference of two slopes is by how much the dual rises
// if share moves from one path to the other. Gold has the slope 0, and the share that the wrong paths leave.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

// How a path differs from gold, or a mean of paths: then labels and n-grams count with their share of it.
struct WrongPath {
    struct Label {
        std::int32_t t, label;  // not the gold label
        double part;
    };
    struct NGram {
        std::int64_t cell;
        double part;  // in gold less that in the path
    };
    std::vector<Label> labels;   // by position, then label
    std::vector<NGram> n_grams;  // by cell
    double loss = 0;
    double share = 0;
    double moved = 0;       // by what the last climb() has changed the share
    std::int32_t idle = 0;  // calls of climb() since the share has become 0
};

class WorkingSet {
  public:
    static constexpr std::size_t kMostPaths = 24;  // beyond, two of them are merged into their mean
    static constexpr std::int32_t kMostIdle = 24;  // calls of climb() after which a path without share leaves

    const std::vector<WrongPath>& paths() const { return paths_; }
    bool has(const WrongPath& path) const;

    // Adds a path without a share. products: psi of the path times psi of each path so far, and of itself.
    void add(WrongPath path, const std::vector<double>& products);

    // Removes paths that have long had no share, and merges two if there are too many.
    void tidy();

    // Moves shares until all paths with a share have the same slope and no other has a higher one, or for
    // some steps. IN: the slopes of the paths. Returns by how much the dual has risen.
    double climb(std::vector<double>& slopes, double cost);

  private:
    double& product(std::size_t i, std::size_t j) {
        return i < j ? product(j, i) : products_[i * (i + 1) / 2 + j];
    }
    void remove(std::size_t i);
    void merge(std::size_t i, std::size_t j);

    std::vector<WrongPath> paths_;
    std::vector<double> products_;  // of paths i >= j, at i (i + 1) / 2 + j
};

}  // namespace hedgerow
