// expect: passed AC passed_by_exact_match language=c++20
#include <iostream>
#include <iterator>
#include <numeric>
#include <ranges>
#include <vector>

int main() {
    std::vector<long long> all(std::istream_iterator<long long>(std::cin), {});
    auto values = all | std::views::drop(1);
    std::cout << std::accumulate(values.begin(), values.end(), 0LL) << std::endl;
}
