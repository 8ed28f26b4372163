#include <algorithm>
#include <bit>
#include <compare>
#include <concepts>
#include <iostream>
#include <ranges>
#include <vector>

struct Point {
    int x, y;
    auto operator<=>(const Point &) const = default;
};

template <std::integral T> T twice(T x) { return x * 2; }

int main() {
    std::vector<int> a{3, 1, 2};
    std::ranges::sort(a);
    int odd = 0;
    for (int x : a | std::views::filter([](int x) { return x % 2; })) odd += x;
    bool less = Point{1, 2} < Point{1, 3};
    std::cout << twice(odd) - 2 * less + std::popcount(0u) << "\n";
}
