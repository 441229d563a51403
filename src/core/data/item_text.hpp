// CRFsuite's text format: one item on a line, a label and attributes between tabs, with weights behind a
// colon.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "data/text_interner.hpp"
#include "data/text_lines.hpp"

namespace hedgerow {

struct ItemText {
    std::vector<int64_t> starts{0};     // of each sequence, and the end of the last
    std::vector<int64_t> lines;         // the line of each item, counted from 1
    std::vector<int32_t> labels;        // the label of each item; empty for a text without labels
    std::vector<int64_t> item_ends{0};  // the end of each item in `ids`, after a 0
    std::vector<int32_t> ids;           // of attributes; an attribute that occurs twice is there twice
    std::vector<double> weights;
    std::vector<double> sequence_weights;
    TextInterner label_values, attribute_values;
    TextFault fault;
    int64_t n_lines = 0;
    std::deque<std::string> unescaped;  // what the interners refer to, besides the text
};

// The attributes of each item, sorted by the rank of their names.
struct Items {
    std::vector<int64_t> starts{0};  // of each item in `ids`, and the end
    std::vector<int32_t> ids;        // rising within an item
    std::vector<float> weights;      // weights of one attribute in one item are added; a sum of 0 stays
    bool weighted = false;           // whether a weight differs from 1
};

Items sort_items(const ItemText& text, const std::vector<int32_t>& rank);

// Stops at the first fault. The values refer to `text`. Calls poll_interrupt.
ItemText read_item_text(Bytes text, bool labelled);

}  // namespace hedgerow
