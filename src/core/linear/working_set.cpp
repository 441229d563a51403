#include "linear/working_set.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow {

namespace {

constexpr std::int64_t kStepsPerPath = 8;     // of one climb()
constexpr double kSmallestDifference = 1e-9;  // of slopes, which have the unit of the loss

// The mean of two lists that are sorted by key(item); the parts of items with the same key are added.
template <class Item, class Key>
std::vector<Item> mean_of(const std::vector<Item>& a, double of_a, const std::vector<Item>& b, double of_b,
                          Key key) {
    std::vector<Item> out;
    auto i = a.begin(), j = b.begin();
    while (i != a.end() || j != b.end()) {
        const bool has_a = j == b.end() || (i != a.end() && key(*i) <= key(*j));
        const bool has_b = i == a.end() || (j != b.end() && key(*j) <= key(*i));
        Item item = has_a ? *i : *j;
        item.part = (has_a ? of_a * i->part : 0.0) + (has_b ? of_b * j->part : 0.0);
        out.push_back(item);
        i += has_a;
        j += has_b;
    }
    return out;
}

}  // namespace

bool WorkingSet::has(const WrongPath& path) const {
    const auto same = [](const WrongPath::Label& a, const WrongPath::Label& b) {
        return a.t == b.t && a.label == b.label && a.part == b.part;
    };
    return std::any_of(paths_.begin(), paths_.end(), [&](const WrongPath& other) {
        return std::equal(path.labels.begin(), path.labels.end(), other.labels.begin(), other.labels.end(),
                          same);
    });
}

void WorkingSet::add(WrongPath path, const std::vector<double>& products) {
    paths_.push_back(std::move(path));
    products_.insert(products_.end(), products.begin(), products.end());
}

void WorkingSet::tidy() {
    for (std::size_t i = paths_.size(); i-- > 0;)
        if (paths_[i].share == 0 && paths_[i].idle > kMostIdle) remove(i);
    while (paths_.size() > kMostPaths) {
        // The newest path stays: it has no share yet because it has not been tried.
        std::vector<std::size_t> order(paths_.size() - 1);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t i, std::size_t j) { return paths_[i].share < paths_[j].share; });
        if (paths_[order[0]].share > 0)
            merge(std::min(order[0], order[1]), std::max(order[0], order[1]));
        else
            remove(order[0]);
    }
}

void WorkingSet::remove(std::size_t i) {
    const std::size_t n = paths_.size();
    std::vector<double> products;
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k <= j; ++k)
            if (j != i && k != i) products.push_back(product(j, k));
    products_ = std::move(products);
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(i));
}

// Path i becomes the mean of i and j, by their shares; path j leaves.
void WorkingSet::merge(std::size_t i, std::size_t j) {
    WrongPath &a = paths_[i], &b = paths_[j];
    const double share = a.share + b.share, of_a = a.share / share, of_b = b.share / share;
    const double own =
        of_a * of_a * product(i, i) + 2 * of_a * of_b * product(i, j) + of_b * of_b * product(j, j);
    for (std::size_t k = 0; k < paths_.size(); ++k)
        if (k != i && k != j) product(i, k) = of_a * product(i, k) + of_b * product(j, k);
    product(i, i) = own;
    a.labels = mean_of(a.labels, of_a, b.labels, of_b,
                       [](const WrongPath::Label& item) { return std::pair(item.t, item.label); });
    a.n_grams =
        mean_of(a.n_grams, of_a, b.n_grams, of_b, [](const WrongPath::NGram& item) { return item.cell; });
    a.loss = of_a * a.loss + of_b * b.loss;
    a.share = share;
    remove(j);
}

double WorkingSet::climb(std::vector<double>& slopes, double cost) {
    const std::size_t n = paths_.size();
    double gold = 1;
    for (WrongPath& path : paths_) {
        gold -= path.share;
        path.moved = -path.share;
    }
    gold = std::max(gold, 0.0);
    slopes.push_back(0);  // of gold, which is number n
    const auto share = [&](std::size_t i) -> double& { return i == n ? gold : paths_[i].share; };
    const auto at = [&](std::size_t i, std::size_t j) { return i == n || j == n ? 0.0 : product(i, j); };
    double risen = 0;
    for (std::int64_t step = 0; step < kStepsPerPath * static_cast<std::int64_t>(n + 1); ++step) {
        std::size_t to = n, from = n;
        for (std::size_t i = 0; i < n; ++i) {
            if (slopes[i] > slopes[to]) to = i;
            if (share(i) > 0 && (share(from) == 0 || slopes[i] < slopes[from])) from = i;
        }
        const double difference = slopes[to] - slopes[from];
        if (difference <= kSmallestDifference) break;
        const double curvature = cost * (at(to, to) + at(from, from) - 2 * at(to, from));
        double amount = share(from);
        if (difference < amount * curvature) {
            amount = difference / curvature;
            share(from) -= amount;
        } else {
            share(from) = 0;
        }
        share(to) += amount;
        risen += cost * amount * (difference - amount * curvature / 2);
        for (std::size_t i = 0; i < n; ++i) slopes[i] -= cost * amount * (at(i, to) - at(i, from));
    }
    for (WrongPath& path : paths_) {
        path.moved += path.share;
        path.idle = path.share > 0 ? 0 : path.idle + 1;
    }
    return risen;
}

}  // namespace hedgerow
