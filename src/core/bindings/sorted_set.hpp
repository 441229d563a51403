// A sorted set of strings of Python, which finds strings and parts of strings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/text.hpp"
#include "data/alphabet.hpp"
#include "data/code_range.hpp"
#include "data/string_index.hpp"
#include "data/text_codes.hpp"
#include "data/text_interner.hpp"
#include "data/text_parts.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

inline void check_text(PyObject* value) {
    if (!PyUnicode_Check(value)) refuse("an alphabet holds str, but got %s; convert it", type_name(value));
}

inline void intern_texts(const nb::list& values, TextInterner& interner, TextStore& copies) {
    for (nb::handle value : values) {
        check_text(value.ptr());
        interner.intern(utf8_of(value.ptr(), copies));
    }
}

inline std::pair<Array<uint8_t, 1>, Array<int64_t, 1>> to_arrays(SortedStrings&& strings) {
    return {to_array(std::move(strings.blob)), to_array(std::move(strings.offsets))};
}

// The part of a name such as "lower" or "suffix3".
inline TextPart part_named(const std::string& name) {
    using Kind = TextPart::Kind;
    constexpr std::array<std::pair<const char*, Kind>, 6> kNames{{{"whole", Kind::whole},
                                                                  {"text", Kind::text},
                                                                  {"lower", Kind::lower},
                                                                  {"shape", Kind::shape},
                                                                  {"outline", Kind::outline},
                                                                  {"constant", Kind::constant}}};
    for (const auto& [known, kind] : kNames)
        if (name == known) return {kind};
    if (name.size() == 7 && name[6] >= '1' && name[6] <= '9') {
        if (name.compare(0, 6, "prefix") == 0) return {Kind::prefix, name[6] - '0'};
        if (name.compare(0, 6, "suffix") == 0) return {Kind::suffix, name[6] - '0'};
    }
    throw nb::value_error("there is no such part of a text");
}

// The constructor checks the offsets, so that other methods need not.
class SortedSet {
  public:
    SortedSet(Input<uint8_t, 1> blob, Input<int64_t, 1> offsets)
        : blob_(std::move(blob)), offsets_(std::move(offsets)) {
        const auto n = static_cast<int64_t>(offsets_.shape(0)) - 1;
        const int64_t* at = offsets_.data();
        if (n < 0 || at[0] != 0 || at[n] != static_cast<int64_t>(blob_.shape(0)))
            refuse("the offsets of an alphabet must go from 0 to the size of its blob; the data is damaged");
        if (n > std::numeric_limits<int32_t>::max()) refuse("an alphabet holds at most 2147483647 strings");
        for (int64_t i = 0; i < n; ++i)
            if (at[i] > at[i + 1]) refuse("the offsets of an alphabet must not fall; the data is damaged");
        strings_ = {blob_.data(), at, n};
    }

    int64_t size() const { return strings_.size; }

    nb::object text(int64_t i) const {
        if (i < 0 || i >= size()) throw nb::index_error("the index lies outside the alphabet");
        return to_text(strings_[i]);
    }

    void check() const {
        for (int64_t i = 0; i < size(); ++i) {
            if (!is_utf8(strings_[i]))
                refuse("string %lld of an alphabet must be UTF-8; the data is damaged",
                       static_cast<long long>(i));
            if (i > 0 && compare(strings_[i - 1], strings_[i]) >= 0)
                refuse("the strings of an alphabet must rise, but string %lld does not; the data is damaged",
                       static_cast<long long>(i));
        }
    }

    Array<int32_t, 1> ids(const nb::typed<nb::list, nb::str>& values) { return find_all(values, -1); }

    // As ids, but None is allowed, and what the set does not have is absent.
    Array<int32_t, 1> codes(const nb::typed<nb::list, nb::object>& values) {
        return find_all(values, kAbsent);
    }

    // (the index of a part of each string of `texts`, absent if the text or the set does not have it; the
    // texts whose part is undecided). `outside` is what no text may be.
    std::pair<Array<int32_t, 1>, Array<int64_t, 1>> part_codes(const SortedSet& texts,
                                                               const std::string& name,
                                                               const std::string& outside,
                                                               int64_t n_threads) {
        const TextPart part = part_named(name);
        index_.prepare(strings_, texts.size());
        std::vector<int32_t> found(static_cast<size_t>(texts.size()), kAbsent);
        std::vector<std::vector<int64_t>> undecided((found.size() + kThreadTexts - 1) / kThreadTexts);
        // With Python's lock: another search could build the table of the index meanwhile.
        parallel_for(static_cast<int64_t>(undecided.size()), n_threads, [&] {
            return [&, text = std::vector<uint8_t>()](int64_t c) mutable {
                const int64_t last = std::min(texts.size(), (c + 1) * kThreadTexts);
                for (int64_t i = c * kThreadTexts; i < last; ++i) {
                    const PartState state = read_part(part, texts.strings_[i], bytes(outside), text);
                    if (state == PartState::undecided) undecided[static_cast<size_t>(c)].push_back(i);
                    if (state != PartState::found) continue;
                    const int32_t code = index_.find_prepared(strings_, bytes(text));
                    if (code >= 0) found[static_cast<size_t>(i)] = code;
                }
            };
        });
        std::vector<int64_t> all_undecided;
        for (const std::vector<int64_t>& some : undecided)
            all_undecided.insert(all_undecided.end(), some.begin(), some.end());
        return {to_array(std::move(found)), to_array(std::move(all_undecided))};
    }

    // (blob, offsets) of each part's alphabet: the parts of all strings, except undecided ones, and the
    // values in more[part].
    std::vector<std::pair<Array<uint8_t, 1>, Array<int64_t, 1>>> part_alphabets(
        const std::vector<std::string>& names, const std::vector<nb::typed<nb::list, nb::str>>& more,
        const std::string& outside, int64_t n_threads) const {
        require(names.size() == more.size(), "each part must have a list of more values");
        std::vector<TextPart> parts;
        std::vector<TextInterner> values;
        TextStore copies;
        for (size_t i = 0; i < names.size(); ++i) {
            parts.push_back(part_named(names[i]));
            intern_texts(more[i], values.emplace_back(true), copies);
        }
        std::vector<SortedStrings> sorted(names.size());
        {
            const nb::gil_scoped_release release;
            parallel_for(static_cast<int64_t>(names.size()), n_threads, [&] {
                return [&](int64_t p) {
                    const auto i = static_cast<size_t>(p);
                    collect_parts(parts[i], strings_, bytes(outside), values[i]);
                    sorted[i] = values[i].sorted();
                };
            });
        }
        std::vector<std::pair<Array<uint8_t, 1>, Array<int64_t, 1>>> found;
        for (SortedStrings& strings : sorted) found.push_back(to_arrays(std::move(strings)));
        return found;
    }

    Array<int32_t, 1> into(const SortedSet& other) const {
        return to_array(indices_in(strings_, other.strings_, -1, 1));
    }

    // (blob, offsets) of the strings of both sets.
    std::pair<Array<uint8_t, 1>, Array<int64_t, 1>> merged(const SortedSet& other) const {
        SortedStrings strings;
        {
            const nb::gil_scoped_release release;
            strings = merge_sorted(strings_, other.strings_);
        }
        return to_arrays(std::move(strings));
    }

    // Turns codes of this alphabet into codes of `other`, absent where `other` lacks the string; also returns
    // the number of such codes.
    std::pair<Array<int32_t, 1>, int64_t> recode(const Input<int32_t, 1>& codes, const SortedSet& other,
                                                 int64_t n_threads) const {
        const auto n = static_cast<int64_t>(codes.shape(0));
        if (CodeRange(codes.data(), n).highest >= size()) refuse("a code lies outside its alphabet");
        const Output<int32_t, 1> result({codes.shape(0)});
        std::vector<int64_t> left_out((codes.shape(0) + kThreadCodes - 1) / kThreadCodes, 0);
        {
            const nb::gil_scoped_release release;
            const std::vector<int32_t> found = indices_in(strings_, other.strings_, kAbsent, n_threads);
            int32_t* to = result.data();
            const int32_t* from = codes.data();
            parallel_for(static_cast<int64_t>(left_out.size()), n_threads, [&] {
                return [&](int64_t c) {
                    const int64_t last = std::min(n, (c + 1) * kThreadCodes);
                    int64_t n_left_out = 0;
                    for (int64_t t = c * kThreadCodes; t < last; ++t) {
                        const int32_t code = from[t];
                        const int32_t recoded = code < 0 ? code : found[static_cast<size_t>(code)];
                        n_left_out += recoded != code && recoded == kAbsent;
                        to[t] = recoded;
                    }
                    left_out[static_cast<size_t>(c)] = n_left_out;
                };
            });
        }
        return {result.array(), std::accumulate(left_out.begin(), left_out.end(), int64_t{0})};
    }

    KnownStrings known() { return {strings_, &index_}; }

  private:
    static constexpr int64_t kThreadTexts = 1 << 10, kThreadCodes = 1 << 14;  // that a thread takes at a time

    // The index of each str of a list, `otherwise` if the set does not have it.
    Array<int32_t, 1> find_all(const nb::list& values, int32_t otherwise) {
        std::vector<int32_t> found;
        found.reserve(values.size());
        TextStore copies;
        for (nb::handle value : values) {
            int32_t code = -1;
            if (otherwise == -1 || !value.is_none()) {
                check_text(value.ptr());
                code = index_.find(strings_, utf8_of(value.ptr(), copies));
            }
            found.push_back(code < 0 ? otherwise : code);
        }
        return to_array(std::move(found));
    }

    static Bytes bytes(const std::vector<uint8_t>& text) {
        return {text.data(), static_cast<int64_t>(text.size())};
    }
    static Bytes bytes(const std::string& text) {
        return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size())};
    }

    Input<uint8_t, 1> blob_;
    Input<int64_t, 1> offsets_;
    Strings strings_{};
    StringIndex index_;
};

}  // namespace hedgerow
