// Columns that templates derive from others: checks arguments, calls the kernels.
#include "data/derived_columns.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"

namespace hedgerow {
namespace {

constexpr int64_t kFarthest = int64_t{1} << 32;  // sums of offset and position do not overflow

SequenceStarts checked(const Input<int64_t, 1>& starts, size_t n_values) {
    const auto n = static_cast<int64_t>(starts.shape(0)) - 1;
    const int64_t* s = starts.data();
    require(n >= 0 && s[0] == 0 && s[n] == static_cast<int64_t>(n_values),
            "starts must go from 0 to the number of values");
    for (int64_t i = 0; i < n; ++i) require(s[i] <= s[i + 1], "starts must not fall");
    return {s, n};
}

void check_codes(const Input<int32_t, 1>& codes, size_t n_values) {
    const CodeRange range(codes.data(), static_cast<int64_t>(codes.shape(0)));
    require(range.lies_in(static_cast<int64_t>(n_values)), "a code lies outside its alphabet");
}

Array<int32_t, 1> neighbours(const Input<int64_t, 1>& starts, const Input<int32_t, 1>& codes,
                             const Input<int32_t, 1>& ids, int64_t offset, const Input<int32_t, 1>& outside,
                             int64_t n_threads) {
    const SequenceStarts sequences = checked(starts, codes.shape(0));
    check_codes(codes, ids.shape(0));
    require(offset > -kFarthest && offset < kFarthest, "an offset is too far");
    require(std::abs(offset) <= static_cast<int64_t>(outside.shape(0)),
            "each distance up to the offset must have a code outside the sequence");
    const Output<int32_t, 1> found({codes.shape(0)});
    {
        const nb::gil_scoped_release release;
        read_neighbours(sequences, codes.data(), ids.data(), static_cast<int64_t>(ids.shape(0)), offset,
                        outside.data(), found.data(), n_threads);
    }
    return found.array();
}

std::pair<Array<int64_t, 1>, Array<int32_t, 1>> pairs_of(const Input<int32_t, 1>& left,
                                                         const Input<int32_t, 1>& right, int32_t n_left,
                                                         int32_t n_right, int64_t n_threads) {
    require(left.shape(0) == right.shape(0), "both columns must have the same positions");
    require(n_left >= 0 && n_right >= 0, "an alphabet cannot have a negative size");
    check_codes(left, static_cast<size_t>(n_left));
    check_codes(right, static_cast<size_t>(n_right));
    PairLists lists;
    {
        const nb::gil_scoped_release release;
        lists = distinct_pairs(left.data(), right.data(), static_cast<int64_t>(left.shape(0)), n_left,
                               n_right, n_threads);
    }
    return {to_array(std::move(lists.starts)), to_array(std::move(lists.rights))};
}

void check_pairs(const Input<int64_t, 1>& starts, const Input<int32_t, 1>& rights, int32_t n_right) {
    const Pairs pairs{starts.data(), rights.data()};
    const auto n = static_cast<int64_t>(starts.shape(0)) - 1;
    bool valid = n >= 0 && pairs.starts[0] == 0 && pairs.starts[n] == static_cast<int64_t>(rights.shape(0));
    for (int64_t l = 0; valid && l < n; ++l) valid = pairs.starts[l] <= pairs.starts[l + 1];
    for (int64_t l = 0; valid && l < n; ++l)
        for (int64_t p = pairs.starts[l]; valid && p < pairs.starts[l + 1]; ++p)
            valid = pairs.rights[p] >= 0 && pairs.rights[p] < n_right &&
                    (p == pairs.starts[l] || pairs.rights[p - 1] < pairs.rights[p]);
    if (!valid) refuse("the pairs of an alphabet must be distinct and sorted; the data is damaged");
}

Array<int32_t, 1> pair_codes(const Input<int64_t, 1>& starts, const Input<int32_t, 1>& rights,
                             const Input<int32_t, 1>& left, const Input<int32_t, 1>& right,
                             int64_t n_threads) {
    require(left.shape(0) == right.shape(0), "both columns must have the same positions");
    require(starts.shape(0) >= 1, "starts must not be empty");
    check_codes(left, starts.shape(0) - 1);
    const Output<int32_t, 1> found({left.shape(0)});
    {
        const nb::gil_scoped_release release;
        find_pairs({starts.data(), rights.data()}, left.data(), right.data(),
                   static_cast<int64_t>(left.shape(0)), found.data(), n_threads);
    }
    return found.array();
}

Statistic statistic_named(const std::string& name) {
    constexpr std::array<std::pair<const char*, Statistic>, 5> kNames{{{"change", Statistic::change},
                                                                       {"mean", Statistic::mean},
                                                                       {"deviation", Statistic::deviation},
                                                                       {"lowest", Statistic::lowest},
                                                                       {"highest", Statistic::highest}}};
    for (const auto& [known, statistic] : kNames)
        if (name == known) return statistic;
    throw nb::value_error("there is no such statistic");
}

Array<float, 1> statistic(const Input<int64_t, 1>& starts, const Input<float, 1>& values,
                          const std::string& name, int64_t first, int64_t last) {
    const SequenceStarts sequences = checked(starts, values.shape(0));
    require(first > -kFarthest && first <= last && last < kFarthest, "first must not be after last");
    const Output<float, 1> found({values.shape(0)});
    read_statistic(sequences, values.data(), statistic_named(name), first, last, found.data());
    return found.array();
}

}  // namespace

void register_derived_columns(nb::module_& m) {
    m.def("neighbours", &neighbours, nb::arg("starts").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("ids").noconvert(), nb::arg("offset"), nb::arg("outside").noconvert(),
          nb::arg("n_threads") = 1,
          "Return for each position ids[code] of the position `offset` after it, outside[d - 1] where that "
          "lies d positions\n"
          "before the sequence or after it. Negative codes stay as they are.");
    m.def(
        "distinct_pairs", &pairs_of, nb::arg("left").noconvert(), nb::arg("right").noconvert(),
        nb::arg("n_left"), nb::arg("n_right"), nb::arg("n_threads") = 1,
        "Return (starts, rights): left code l occurs with the right codes rights[starts[l]:starts[l + 1]].");
    m.def("check_pairs", &check_pairs, nb::arg("starts").noconvert(), nb::arg("rights").noconvert(),
          nb::arg("n_right"),
          "Raise InputError unless the right codes rise within each left code and are below n_right.");
    m.def("pair_codes", &pair_codes, nb::arg("starts").noconvert(), nb::arg("rights").noconvert(),
          nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("n_threads") = 1,
          "Return the code of each pair, its index in `rights`; -1 if a code is -1, otherwise -2 if a code "
          "is -2\n"
          "or the pair is not there.");
    m.def("number_statistic", &statistic, nb::arg("starts").noconvert(), nb::arg("values").noconvert(),
          nb::arg("name"), nb::arg("first"), nb::arg("last"),
          "Return a statistic of the numbers from `first` to `last` positions after each position.\n\n"
          "name: change, mean, deviation, lowest or highest. NaN is ignored; outside the sequence is "
          "nothing.");
}

}  // namespace hedgerow
