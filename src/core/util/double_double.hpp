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

// a + b without the last step, which would make `low` small beside `high`: for sums of a few numbers.
inline DoubleDouble loose_sum(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = two_sum(a.high, b.high);
    return {sum.high, sum.low + (a.low + b.low)};
}
inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = loose_sum(a, b);
    return two_sum(sum.high, sum.low);
}

// a - b, rounded to a double. If a and b are close, their high parts are subtracted without an error.
inline double difference(DoubleDouble a, DoubleDouble b) {
    return (a.high - b.high) + (a.low - b.low);
}

// The same for plain doubles, for code that is written for either.
inline double loose_sum(double a, double b) {
    return a + b;
}
inline double difference(double a, double b) {
    return a - b;
}
inline double normal(double a) {
    return a;
}
inline DoubleDouble normal(DoubleDouble a) {
    return two_sum(a.high, a.low);
}
inline double high(double a) {
    return a;
}
inline double high(DoubleDouble a) {
    return a.high;
}
inline double low(double) {
    return 0;
}
inline double low(DoubleDouble a) {
    return a.low;
}

}  // namespace hedgerow
