// Text files with one position on a line and a blank line behind each sequence: columns, as codes of the
// values.
#pragma once

#include <cstdint>
#include <vector>

#include "data/alphabet.hpp"
#include "data/text_interner.hpp"
#include "data/text_lines.hpp"

namespace hedgerow {

struct ColumnRules {
    bool tabs;       // one tab between two columns; otherwise blanks and tabs, any number of them
    bool comments;   // lines that begin with # can be comments, which are skipped
    bool documents;  // a line that begins with -DOCSTART- is skipped and ends a sequence
    bool
        numbered;  // CoNLL-U: lines whose first column holds - or . are skipped, and every # begins a comment
    int64_t absent_from;  // "_" is absent in this column and in those behind it
    int64_t n_columns;    // 0: as many as the first position has
};

struct TextColumn {
    std::vector<int32_t> codes;  // -2 where the value is empty
    TextInterner values;
};

struct ColumnText {
    std::vector<int64_t> starts{0};  // of each sequence, and the end of the last
    std::vector<int64_t> lines;      // the line of each position, counted from 1
    std::vector<int64_t> ends;       // where the line of each position ends in the text, without line break
    std::vector<TextColumn> columns;
    TextFault fault;
    int64_t n_lines = 0;
};

// Stops at the first fault. The columns refer to `text`. Calls poll_interrupt.
ColumnText read_column_text(Bytes text, const ColumnRules& rules);

// Whether the first line that cannot be a comment holds a tab; if every line begins with #, whether one does.
bool has_tabs(Bytes text);

// The offset behind the last blank line that begins at or after `begin`, which is the begin of a line; -1
// without one.
int64_t end_of_sequences(Bytes text, int64_t begin);

// The text with a label behind every position: the separator and label labels[codes[t]] inserted at ends[t].
std::vector<uint8_t> append_labels(Bytes text, const int64_t* ends, int64_t n_positions, Bytes separator,
                                   Strings labels, const int32_t* codes);

}  // namespace hedgerow
