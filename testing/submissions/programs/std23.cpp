#include <iostream>
#include <utility>
#include <vector>

constexpr int where() {
    if consteval {
        return 1;
    } else {
        return 2;
    }
}

int main() {
    std::vector<int> a{1, 2};
    auto n = 3uz + a.size();
    constexpr int now = where();
    std::cout << n + now << "\n";
    if (a.empty()) std::unreachable();
}
