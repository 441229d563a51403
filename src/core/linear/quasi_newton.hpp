// Limited-memory BFGS (Nocedal 1980): an estimate H of the inverse Hessian from the last few steps s_p and
// the changes y_p of the gradient along them.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

class QuasiNewton {
  public:
    QuasiNewton(std::int64_t n, std::int64_t memory) : n_(n), memory_(memory) {}

    std::int64_t n() const { return n_; }
    // Resets H to the identity; returns false if it already was.
    bool forget();

    // Adds a step s and the change y of the gradient along it. A pair without positive curvature s y is left
    // out.
    void remember(const double* step, const double* change, std::int64_t n_threads);

    // out <- H gradient.
    void times(const double* gradient, double* out, std::int64_t n_threads) const;

  private:
    struct Pair {
        std::vector<float> step, change;
        double curvature = 0;
    };

    std::int64_t n_, memory_;
    std::vector<Pair> pairs_;  // oldest first
};

}  // namespace hedgerow
