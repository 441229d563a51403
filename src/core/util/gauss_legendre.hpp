// Gauss-Legendre quadrature on [0, 1]: with n nodes exact for polynomials of degree below 2n.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace hedgerow {

struct Quadrature {
    std::vector<double> nodes, weights;
};

// The nodes are the roots of the Legendre polynomial of degree n, by Newton's method, moved to [0, 1].
inline Quadrature gauss_legendre(std::int64_t n) {
    Quadrature rule;
    for (std::int64_t i = 0; i < n; ++i) {
        double x =
            std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5));
        double slope = 1;
        for (int step = 0; step < 100; ++step) {
            double before = 0, value = 1;
            for (std::int64_t k = 1; k <= n; ++k) {
                const auto degree = static_cast<double>(k);
                const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
                before = value;
                value = next;
            }
            slope = static_cast<double>(n) * (x * value - before) / (x * x - 1);
            const double change = value / slope;
            x -= change;
            if (std::abs(change) < 1e-15) break;
        }
        rule.nodes.push_back((1 - x) / 2);
        rule.weights.push_back(1 / ((1 - x * x) * slope * slope));
    }
    return rule;
}

}  // namespace hedgerow
