// Codes of texts that come in batches: indices in a known set of strings, or ids of the distinct texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "data/alphabet.hpp"
#include "data/string_index.hpp"
#include "data/text_interner.hpp"

namespace hedgerow {

constexpr int32_t kMissing = -1;  // None or NaN
constexpr int32_t kAbsent = -2;   // the dict does not have the key

// A set of strings with its index, both of which outlive what refers to them.
struct KnownStrings {
    Strings strings{};
    StringIndex* index = nullptr;  // null: there is no set
};

// What stands for a missing value, and for n absent ones, among texts.
inline Bytes missing_text() {
    return {nullptr, kMissing};
}
inline Bytes absent_texts(int64_t n) {
    return {nullptr, -1 - n};
}

class TextCodes {
  public:
    // Looks texts up in `known`. keep_new: texts that the set lacks get codes from its size on, so that
    // different ones differ; otherwise they are absent, and counted.
    void look_up(KnownStrings known, bool keep_new) {
        known_ = known;
        keep_new_ = keep_new;
    }
    bool is_known() const { return known_.index != nullptr; }

    // Collects a text, or what stands for values without one. The text must stay where it is until it is
    // encoded; copies() is a place for it.
    void collect(Bytes text) { collected_.texts.push_back(text); }
    TextStore& copies() { return collected_.copies; }

    // Gives what was collected to encode(), which another thread may call while more is collected. Returns
    // whether there is anything to encode.
    bool hand_over() {
        if (collected_.texts.empty()) return false;
        std::swap(collected_, given_);
        if (is_known()) known_.index->prepare(known_.strings, static_cast<int64_t>(given_.texts.size()));
        return true;
    }

    void encode() {
        const std::vector<Bytes>& texts = given_.texts;
        const auto is_text = [](Bytes text) { return text.data != nullptr; };
        for (auto at = texts.begin(); at != texts.end();) {
            const auto end = std::find_if_not(at, texts.end(), is_text);
            if (at != end) encode_run(&*at, end - at);
            for (at = end; at != texts.end() && !is_text(*at); ++at) {
                const bool missing = at->size == kMissing;
                codes.resize(codes.size() + (missing ? 1 : static_cast<size_t>(-1 - at->size)),
                             missing ? kMissing : kAbsent);
            }
        }
        given_.texts.clear();
        given_.copies.clear();
    }

    // The distinct texts in their order, and the codes as indices among them. Not if texts are looked up.
    SortedStrings sort() {
        SortedStrings sorted = new_.sorted();
        for (int32_t& code : codes)
            if (code >= 0) code = sorted.rank[static_cast<size_t>(code)];
        return sorted;
    }

    std::vector<int32_t> codes;
    int64_t left_out = 0;  // texts that became absent

  private:
    void encode_run(const Bytes* texts, int64_t n) {
        const size_t before = codes.size();
        codes.resize(before + static_cast<size_t>(n));
        int32_t* found = codes.data() + before;
        if (!is_known()) return new_.intern_all(texts, n, found);
        known_.index->find_all(known_.strings, texts, n, found);
        for (int64_t i = 0; i < n; ++i)
            if (found[i] < 0) {
                left_out += !keep_new_;
                found[i] = keep_new_ ? n_known() + new_.intern(texts[i]) : kAbsent;
            }
    }
    int32_t n_known() const { return static_cast<int32_t>(known_.strings.size); }

    struct Batch {
        std::vector<Bytes> texts;
        TextStore copies;
    };
    Batch collected_, given_;
    KnownStrings known_;
    bool keep_new_ = false;
    TextInterner new_{true};
};

}  // namespace hedgerow
