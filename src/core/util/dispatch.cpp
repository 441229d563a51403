// Chooses, at run time, the best instruction set the processor has.
#include <cstring>

#include "lattice/fast_lane.hpp"
#include "linear/linear_kernels.hpp"
#include "search/search_kernels.hpp"
#include "trees/fractional_kernels.hpp"
#include "trees/growth_kernels.hpp"
#include "trees/replay_kernels.hpp"

#if defined(HEDGEROW_X86) && defined(_MSC_VER)
#include <isa_availability.h>
extern "C" int __isa_available;
#endif

namespace hedgerow {

#define HEDGEROW_DECLARE(isa)                     \
    namespace isa {                               \
    template <class Real>                         \
    void offer_sum_product(FastLane<Real>& lane); \
    template <class Real>                         \
    void offer_max_sum(FastLane<Real>& lane);     \
    template <class Real>                         \
    void offer_beam_sum(FastLane<Real>& lane);    \
    template <class Real>                         \
    void offer_sparse_sums(FastLane<Real>& lane); \
    template <class Real>                         \
    void offer_beam_max(FastLane<Real>& lane);    \
    template <class Real>                         \
    FastLane<Real> offer() {                      \
        FastLane<Real> lane{};                    \
        offer_sum_product(lane);                  \
        offer_max_sum(lane);                      \
        offer_beam_sum(lane);                     \
        offer_sparse_sums(lane);                  \
        offer_beam_max(lane);                     \
        return lane;                              \
    }                                             \
    GrowthKernels offer_growth();                 \
    ReplayKernels offer_replay();                 \
    LinearKernels offer_linear();                 \
    FractionalKernels offer_fractional();         \
    SearchKernels offer_search();                 \
    }

HEDGEROW_DECLARE(portable)
#if defined(HEDGEROW_X86)
HEDGEROW_DECLARE(avx2)
HEDGEROW_DECLARE(avx512)
#endif

namespace {

struct Choice {
    const char* name;
    FastLane<float> single;
    FastLane<double> twice;
    GrowthKernels growth;
    ReplayKernels replay;
    LinearKernels linear;
    FractionalKernels fractional;
    SearchKernels search;
};

#if defined(HEDGEROW_X86)
bool has_avx2() {
#if defined(_MSC_VER)
    return __isa_available >= __ISA_AVAILABLE_AVX2;
#else
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
}
bool has_avx512() {
#if defined(_MSC_VER)
    return __isa_available >= __ISA_AVAILABLE_AVX512;
#else
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
}
#endif

struct Choices {
    Choice list[3];
    const char* names[4] = {};
    int n = 0, used = 0;

    Choices() {
#if defined(HEDGEROW_X86)
        if (has_avx512())
            add({"avx512", avx512::offer<float>(), avx512::offer<double>(), avx512::offer_growth(),
                 avx512::offer_replay(), avx512::offer_linear(), avx512::offer_fractional(),
                 avx512::offer_search()});
        if (has_avx2())
            add({"avx2", avx2::offer<float>(), avx2::offer<double>(), avx2::offer_growth(),
                 avx2::offer_replay(), avx2::offer_linear(), avx2::offer_fractional(), avx2::offer_search()});
#endif
        add({"portable", portable::offer<float>(), portable::offer<double>(), portable::offer_growth(),
             portable::offer_replay(), portable::offer_linear(), portable::offer_fractional(),
             portable::offer_search()});
    }
    void add(const Choice& choice) {
        names[n] = choice.name;
        list[n++] = choice;
    }
};

Choices& choices() {
    static Choices all;
    return all;
}

}  // namespace

const char* const* instruction_sets() {
    return choices().names;
}

const char* instruction_set() {
    return choices().names[choices().used];
}

bool use_instruction_set(const char* name) {
    for (int i = 0; i < choices().n; ++i) {
        if (std::strcmp(name, choices().names[i]) == 0) {
            choices().used = i;
            return true;
        }
    }
    return false;
}

template <>
const FastLane<float>& fast_lane<float>() {
    return choices().list[choices().used].single;
}
template <>
const FastLane<double>& fast_lane<double>() {
    return choices().list[choices().used].twice;
}

const LinearKernels& linear_kernels() {
    return choices().list[choices().used].linear;
}

const SearchKernels& search_kernels() {
    return choices().list[choices().used].search;
}

const FractionalKernels& fractional_kernels() {
    return choices().list[choices().used].fractional;
}

const GrowthKernels& growth_kernels() {
    return choices().list[choices().used].growth;
}

const ReplayKernels& replay_kernels() {
    return choices().list[choices().used].replay;
}

}  // namespace hedgerow
