// The last labels of a hypothesis as one number, a code, and the numbers of the label contexts that it ends
// with.
//
// A code holds the last `memory` labels, the most recent one in the highest bits, with a fixed number of bits
// per label. The value K stands for `start`, a label before the sequence. The first j labels of a code are
// the label context of j labels; its number is
//
//     2^(bits j) - 1 + (the bits of these j labels)
//
// so 0 is the empty context, a bias.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hedgerow {

class LabelCodes {
  public:
    // Whether all label contexts of this order, with a next label each, have a 64-bit number.
    static bool fit(std::int64_t n_labels, std::int64_t order) {
        return order < 64 && bits_of(n_labels) * (std::max<std::int64_t>(order, 1) + 1) < 62;
    }

    LabelCodes(std::int64_t n_labels, std::int64_t order, bool bias)
        : start_(n_labels), bits_(bits_of(n_labels)), order_(order), bias_(bias) {}

    std::int64_t memory() const { return std::max<std::int64_t>(order_, 1); }
    std::int64_t order() const { return order_; }
    // The numbers of all label contexts are below this one.
    std::int64_t n_contexts() const { return 2 * power(order_) - 1; }

    // The code of an empty labelling.
    std::int64_t start() const {
        std::int64_t code = 0;
        for (std::int64_t m = 0; m < memory(); ++m) code = code << bits_ | start_;
        return code;
    }
    // The code after one more label.
    std::int64_t next(std::int64_t code, std::int64_t label) const {
        return label << bits_ * (memory() - 1) | shared(code);
    }
    // The part of a code that next() keeps: codes with the same part have the same successors.
    std::int64_t shared(std::int64_t code) const { return code >> bits_; }
    // shared() of every code from which next() can have made this code.
    std::int64_t before(std::int64_t code) const { return code & (power(memory() - 1) - 1); }

    // Calls visit(number) for each label context of a code at a step. A context has at most one `start`:
    // longer ones would carry no more information.
    template <class Visit>
    void for_each_context(std::int64_t code, std::int64_t step, Visit visit) const {
        if (bias_) visit(std::int64_t{0});
        const std::int64_t longest = std::min(order_, step + 1);
        for (std::int64_t m = 1; m <= longest; ++m) visit(power(m) - 1 + (code >> bits_ * (memory() - m)));
    }

  private:
    static std::int64_t bits_of(std::int64_t n_labels) {
        return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n_labels)));
    }
    std::int64_t power(std::int64_t m) const { return std::int64_t{1} << bits_ * m; }

    std::int64_t start_, bits_, order_;
    bool bias_;
};

}  // namespace hedgerow
