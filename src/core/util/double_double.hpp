// A number as the unevaluated sum of two doubles, high + low, with |low| at most half a unit in the last
// place of high: about 106 significant bits. For sums of scores whose sizes differ by many orders of
// magnitude.
#pragma once

#include <cmath>

namespace hedgerow {

struct DoubleDouble {
    double high = 0, low = 0;
};

// a + b exactly (Knuth's TwoSum), for finite a and b; minus infinity stays minus infinity.
inline DoubleDouble two_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    const double error = (a - (sum - of_b)) + (b - of_b);
    return {sum, sum == -INFINITY ? 0.0 : error};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = two_sum(a.high, b.high);
    return two_sum(sum.high, sum.low + (a.low + b.low));
}

// a - b without the last step, which would make `low` small beside `high`: for sums of a few numbers.
inline DoubleDouble loose_difference(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = two_sum(a.high, -b.high);
    return {sum.high, sum.low + (a.low - b.low)};
}

}  // namespace hedgerow
