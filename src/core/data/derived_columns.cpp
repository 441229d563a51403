#include "data/derived_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "util/parallel.hpp"

namespace hedgerow {

namespace {

constexpr int64_t kThreadPositions = 1 << 13;  // positions that a thread takes at a time

}  // namespace

void read_neighbours(SequenceStarts sequences, const int32_t* codes, const int32_t* ids, int64_t n_ids,
                     int64_t offset, const int32_t* outside, int32_t* found, int64_t n_threads) {
    std::vector<int32_t> by_code{kAbsentCode, kMissingCode};  // from code -2 on
    by_code.insert(by_code.end(), ids, ids + n_ids);
    const int32_t* id_of = by_code.data() - kAbsentCode;
    const std::vector<int64_t> cuts = chunks(sequences.starts, sequences.n_sequences, kThreadPositions);
    const auto read_sequence = [&](int64_t begin, int64_t end) {
        const int64_t first = std::clamp(begin - offset, begin, end);  // t + offset lies in the sequence
        const int64_t last = std::clamp(end - offset, begin, end);     // for t from first to last
        for (int64_t t = begin; t < first; ++t) found[t] = outside[begin - (t + offset) - 1];
        for (int64_t t = first; t < last; ++t) found[t] = id_of[codes[t + offset]];
        for (int64_t t = last; t < end; ++t) found[t] = outside[t + offset - end];
    };
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, n_threads, [&] {
        return [&](int64_t c) {
            for (int64_t i = cuts[static_cast<size_t>(c)]; i < cuts[static_cast<size_t>(c) + 1]; ++i)
                read_sequence(sequences.starts[i], sequences.starts[i + 1]);
        };
    });
}

namespace {

// The index of a code among rising codes, absent if it is not there. Every step halves what is left, without
// a branch: which half is as good as random, and a wrong guess costs more than the step.
int64_t find_rising(const int32_t* codes, int64_t begin, int64_t end, int32_t code) {
    int64_t left = end - begin;
    while (left > 1) {
        const int64_t half = left / 2;
        begin += codes[begin + half] <= code ? half : 0;
        left -= half;
    }
    return left == 1 && codes[begin] == code ? begin : kAbsentCode;
}

}  // namespace

void find_pairs(Pairs pairs, const int32_t* left, const int32_t* right, int64_t n, int32_t* found,
                int64_t n_threads) {
    const auto find = [&](int64_t t) -> int32_t {
        if (left[t] < 0 || right[t] < 0)
            return left[t] == kMissingCode || right[t] == kMissingCode ? kMissingCode : kAbsentCode;
        return static_cast<int32_t>(
            find_rising(pairs.rights, pairs.starts[left[t]], pairs.starts[left[t] + 1], right[t]));
    };
    parallel_for((n + kThreadPositions - 1) / kThreadPositions, n_threads, [&] {
        return [&](int64_t c) {
            const int64_t last = std::min(n, (c + 1) * kThreadPositions);
            for (int64_t t = c * kThreadPositions; t < last; ++t) found[t] = find(t);
        };
    });
}

namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// A difference that single precision cannot hold is the largest number that it can.
float change(float now, float before) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(double{now} - double{before}, -kLargest, kLargest));
}

double mean(const float* from, const float* to) {
    double sum = 0;
    int64_t n = 0;
    for (; from < to; ++from)
        if (!std::isnan(*from)) {
            sum += *from;
            ++n;
        }
    return n == 0 ? kUnknown : sum / static_cast<double>(n);
}

double deviation(const float* from, const float* to) {
    const double centre = mean(from, to);
    double sum = 0;
    int64_t n = 0;
    for (; from < to; ++from)
        if (!std::isnan(*from)) {
            const double difference = *from - centre;
            sum += difference * difference;
            ++n;
        }
    return n == 0 ? kUnknown : std::sqrt(sum / static_cast<double>(n));
}

float lowest(const float* from, const float* to) {
    float best = kUnknown;
    for (; from < to; ++from)
        if (!(*from >= best)) best = std::isnan(*from) ? best : *from;
    return best;
}

float highest(const float* from, const float* to) {
    float best = kUnknown;
    for (; from < to; ++from)
        if (!(*from <= best)) best = std::isnan(*from) ? best : *from;
    return best;
}

float of_range(Statistic statistic, const float* from, const float* to) {
    switch (statistic) {
        case Statistic::mean:
            return static_cast<float>(mean(from, to));
        case Statistic::deviation:
            return static_cast<float>(deviation(from, to));
        case Statistic::lowest:
            return lowest(from, to);
        default:
            return highest(from, to);
    }
}

}  // namespace

void read_statistic(SequenceStarts sequences, const float* values, Statistic statistic, int64_t first,
                    int64_t last, float* found) {
    for (int64_t i = 0; i < sequences.n_sequences; ++i) {
        const int64_t begin = sequences.starts[i], end = sequences.starts[i + 1];
        for (int64_t t = begin; t < end; ++t) {
            if (statistic == Statistic::change)
                found[t] = change(values[t], values[std::clamp(t + first, begin, end - 1)]);
            else
                found[t] = of_range(statistic, values + std::clamp(t + first, begin, end),
                                    values + std::clamp(t + last + 1, begin, end));
        }
    }
}

}  // namespace hedgerow
