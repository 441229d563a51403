#include "linear/residuals.hpp"

#include "linear/linear_kernels.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTaskPositions = 2048;  // positions that one task of a thread rounds

}  // namespace

void whole_residuals(const OutputAnswers& answers, const double* factors, std::int32_t* residuals,
                     std::int64_t n_threads) {
    const auto round_row = linear_kernels().round_row;
    const std::int64_t width = answers.width;
    const auto round_sequence = [&](std::int64_t i) {
        const std::int64_t begin = answers.starts[i], end = answers.starts[i + 1];
        const auto factor = static_cast<float>(factors[i]);
        std::int32_t* to = residuals + begin * width;
        round_row(answers.probabilities + begin * width, (end - begin) * width, factor, to);
        for (std::int64_t t = begin; t < end; ++t, to += width) {
            if (answers.gold[t] < 0) continue;
            const float residual = answers.probabilities[t * width + answers.gold[t]] - 1.0f;
            round_row(&residual, 1, factor, to + answers.gold[t]);
        }
    };
    const std::vector<std::int64_t> cuts = chunks(answers.starts, answers.n_sequences, kTaskPositions);
    parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, n_threads, [&] {
        return [&](std::int64_t c) {
            for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) round_sequence(i);
        };
    });
}

}  // namespace hedgerow
