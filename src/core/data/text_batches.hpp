// Encodes the texts of all columns in batches, while the texts of the next batch are collected.
#pragma once

#include <cstdint>
#include <vector>

#include "data/text_codes.hpp"
#include "util/pipeline.hpp"

namespace hedgerow {

// Collected texts are borrowed: drain() before anything happens that may free them.
class TextBatches {
  public:
    // Calls collect() on this thread, then encodes what is left.
    template <class Collect>
    void run(int64_t n_threads, Collect collect) {
        pipeline_.run(n_threads, [&] {
            collect();
            drain();
        });
    }

    void add(TextCodes& column) { columns_.push_back(&column); }
    void count_text() { ++n_texts_; }

    void hand_over_if_full() {
        if (n_texts_ >= kBatchSize) hand_over();
    }

    // Encodes all that was collected.
    void drain() {
        if (n_texts_ > 0) hand_over();
        pipeline_.finish();
    }

  private:
    // Large enough that handing over costs little, small enough that texts stay in the cache until they are
    // encoded.
    static constexpr int64_t kBatchSize = 4096;

    struct Encode {
        TextBatches* batches;
        void operator()(int64_t i) const { batches->given_[static_cast<size_t>(i)]->encode(); }
    };

    void hand_over() {
        pipeline_.finish();
        given_.clear();
        for (TextCodes* column : columns_)
            if (column->hand_over()) given_.push_back(column);
        n_texts_ = 0;
        pipeline_.start(static_cast<int64_t>(given_.size()));
    }

    std::vector<TextCodes*> columns_, given_;
    int64_t n_texts_ = 0;
    Pipeline<Encode> pipeline_{Encode{this}};
};

}  // namespace hedgerow
