#include "data/column_text.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "data/derived_columns.hpp"
#include "util/interrupt.hpp"

namespace hedgerow {

namespace {

constexpr int64_t kMaxColumns = 1 << 16;  // a text without line breaks has millions, and no memory for them
constexpr std::string_view kDocument = "-DOCSTART-";

bool begins_with(Bytes text, std::string_view start) {
    return text.size >= static_cast<int64_t>(start.size()) &&
           std::memcmp(text.data, start.data(), start.size()) == 0;
}

bool equals(Bytes text, char character) {
    return text.size == 1 && text.data[0] == character;
}

void split_at_tabs(Bytes line, std::vector<Bytes>& fields) {
    const uint8_t *p = line.data, *end = line.data + line.size;
    for (;;) {
        const uint8_t* stop = find_byte(p, end, '\t');
        fields.push_back({p, stop - p});
        if (stop == end) return;
        p = stop + 1;
    }
}

void split_at_blanks(Bytes line, std::vector<Bytes>& fields) {
    const uint8_t *p = line.data, *end = line.data + line.size;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t')) ++p;
        if (p == end) return;
        const uint8_t* begin = p;
        while (p < end && *p != ' ' && *p != '\t') ++p;
        fields.push_back({begin, p - begin});
    }
}

class ColumnReader {
  public:
    ColumnReader(Bytes text, const ColumnRules& rules) : text_(text), rules_(rules) {}

    ColumnText read() {
        const uint8_t* nul = find_byte(text_.data, text_.data + text_.size, '\0');
        const bool holds_nul = nul != text_.data + text_.size;
        if (rules_.n_columns == 0) rules_.n_columns = count_columns();
        if (rules_.n_columns > kMaxColumns) {
            result_.fault = {TextFault::wide, 1, rules_.n_columns};
            return std::move(result_);
        }
        result_.columns.resize(static_cast<size_t>(rules_.n_columns));
        Lines lines(text_);
        for (Bytes line; result_.fault.kind == TextFault::none && lines.read(line);) {
            if (++result_.n_lines % kPollInterval == 0) poll_interrupt();
            if (holds_nul && nul < lines.next())
                fail(TextFault::nul, 0);
            else
                read_line(line);
        }
        end_sequence();
        return std::move(result_);
    }

  private:
    // The columns of the first line that cannot be a comment. If every line begins with #: of the first with
    // a tab.
    int64_t count_columns() {
        Lines lines(text_);
        int64_t n_columns = 0;
        for (Bytes line; lines.read(line);) {
            if (is_blank(line) || (rules_.documents && begins_with(line, kDocument))) continue;
            const bool doubtful = rules_.comments && line.data[0] == '#';
            if (doubtful && (n_columns > 0 || !rules_.tabs || !holds(line, '\t'))) continue;
            split(line);
            n_columns = static_cast<int64_t>(fields_.size());
            if (!doubtful) break;
        }
        return n_columns;
    }

    void split(Bytes line) {
        fields_.clear();
        rules_.tabs ? split_at_tabs(line, fields_) : split_at_blanks(line, fields_);
    }

    void read_line(Bytes line) {
        if (is_blank(line)) return end_sequence();
        if (rules_.documents && begins_with(line, kDocument)) {
            end_sequence();
            return skip(line);
        }
        if (rules_.numbered && line.data[0] == '#') return skip(line);
        split(line);
        if (rules_.comments && line.data[0] == '#' && is_comment()) return skip(line);
        if (static_cast<int64_t>(fields_.size()) != rules_.n_columns)
            return fail(TextFault::columns, static_cast<int64_t>(fields_.size()));
        if (rules_.numbered && is_no_word(fields_[0])) return skip(line);
        for (size_t c = 0; c < fields_.size(); ++c)
            if (!add(c, fields_[c])) return;
        result_.lines.push_back(result_.n_lines);
        result_.ends.push_back(line.data + line.size - text_.data);
    }

    // Whoever writes the lines again may rely on UTF-8.
    void skip(Bytes line) {
        if (!is_strict_utf8(line)) fail(TextFault::encoding, 0);
    }

    // "# document 7" before a sentence is a comment, though it has as many words as a position has columns.
    // Within a sentence "# SYM B-NP" is a position, and "# # B-NP" everywhere: the Penn Treebank's tag of #
    // is #. With tabs there is no doubt.
    bool is_comment() const {
        if (static_cast<int64_t>(fields_.size()) != rules_.n_columns) return true;
        const bool first = static_cast<int64_t>(result_.lines.size()) == result_.starts.back();
        return !rules_.tabs && first && equals(fields_[0], '#') &&
               (fields_.size() == 1 || !equals(fields_[1], '#'));
    }

    static bool is_no_word(Bytes id) {
        return std::any_of(id.data, id.data + id.size, [](uint8_t b) { return b == '-' || b == '.'; });
    }

    bool add(size_t c, Bytes field) {
        TextColumn& column = result_.columns[c];
        if (field.size == 0 || (static_cast<int64_t>(c) >= rules_.absent_from && equals(field, '_'))) {
            column.codes.push_back(kAbsentCode);
            return true;
        }
        const int32_t n_before = column.values.size(), code = column.values.intern(field);
        if (code == n_before) {  // every distinct value is checked once
            if (!is_strict_utf8(field)) fail(TextFault::encoding, static_cast<int64_t>(c));
            if (holds(field, '\r')) fail(TextFault::carriage_return, static_cast<int64_t>(c));
        }
        column.codes.push_back(code);
        return result_.fault.kind == TextFault::none;
    }

    void end_sequence() {
        const auto n = static_cast<int64_t>(result_.lines.size());
        if (n > result_.starts.back()) result_.starts.push_back(n);
    }

    void fail(TextFault::Kind kind, int64_t column) {
        if (result_.fault.kind == TextFault::none) result_.fault = {kind, result_.n_lines, column};
    }

    Bytes text_;
    ColumnRules rules_;
    ColumnText result_;
    std::vector<Bytes> fields_;
};

}  // namespace

ColumnText read_column_text(Bytes text, const ColumnRules& rules) {
    return ColumnReader(text, rules).read();
}

bool has_tabs(Bytes text) {
    Lines lines(text);
    bool found = false;
    for (Bytes line; lines.read(line);) {
        if (is_blank(line)) continue;
        if (line.data[0] != '#') return holds(line, '\t');
        found |= holds(line, '\t');
    }
    return found;
}

int64_t end_of_sequences(Bytes text, int64_t begin) {
    int64_t end = text.size;  // behind the line that is looked at
    while (end > begin && text.data[end - 1] != '\n') --end;
    while (end > begin) {
        int64_t start = end - 1;
        while (start > begin && is_blank(text.data[start - 1])) --start;
        if (start == begin || text.data[start - 1] == '\n') return end;
        while (start > begin && text.data[start - 1] != '\n') --start;
        end = start;
    }
    return -1;
}

std::vector<uint8_t> append_labels(Bytes text, const int64_t* ends, int64_t n_positions, Bytes separator,
                                   Strings labels, const int32_t* codes) {
    std::vector<uint8_t> result;
    int64_t size = text.size + n_positions * separator.size;
    for (int64_t t = 0; t < n_positions; ++t) size += labels[codes[t]].size;
    result.reserve(static_cast<size_t>(size));
    const auto append = [&result](const uint8_t* begin, int64_t n) {
        result.insert(result.end(), begin, begin + n);
    };
    int64_t done = 0;
    for (int64_t t = 0; t < n_positions; ++t) {
        append(text.data + done, ends[t] - done);
        append(separator.data, separator.size);
        append(labels[codes[t]].data, labels[codes[t]].size);
        done = ends[t];
    }
    append(text.data + done, text.size - done);
    return result;
}

}  // namespace hedgerow
