// Seconds of the phases of tree growth, for benchmarks. Clocks are read only where somebody wants the times.
#pragma once

#include <chrono>

namespace hedgerow {

struct GrowthTimes {
    double select = 0;     // positions that count, and their sums
    double histogram = 0;  // counting positions by entry, and subtracting histograms
    double scan = 0;       // gains of all entries, and of previous labels
    double partition = 0;  // dividing the positions of a node
    double values = 0;     // the values of leaves, by position

    void operator+=(const GrowthTimes& other) {
        select += other.select;
        histogram += other.histogram;
        scan += other.scan;
        partition += other.partition;
        values += other.values;
    }
};

// Adds its lifetime to a phase; null: does nothing.
class PhaseTimer {
  public:
    explicit PhaseTimer(double* phase) : phase_(phase) {
        if (phase_) begin_ = Clock::now();
    }
    ~PhaseTimer() {
        if (phase_) *phase_ += std::chrono::duration<double>(Clock::now() - begin_).count();
    }
    PhaseTimer(const PhaseTimer&) = delete;
    PhaseTimer& operator=(const PhaseTimer&) = delete;

  private:
    using Clock = std::chrono::steady_clock;
    double* phase_;
    Clock::time_point begin_;
};

}  // namespace hedgerow
