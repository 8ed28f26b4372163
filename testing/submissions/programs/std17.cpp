#include <iostream>
#include <map>
#include <optional>
#include <string_view>

template <typename... T> auto total(T... x) { return (x + ...); }

int main() {
    std::map<std::string_view, int> m{{"a", 1}, {"b", 2}};
    int sum = 0;
    for (auto [name, value] : m) sum += value;
    if (std::optional<int> rest = 3; rest) sum = total(sum, *rest);
    std::cout << sum << (__cplusplus == 201703L ? "" : " not 17") << "\n";
}
