#include <iostream>
#include <memory>

template <typename T> constexpr T three = T(3);

int main() {
    auto add = [](auto a, auto b) { return a + b; };
    auto one = std::make_unique<int>(0b1);
    std::cout << add(*one + 2, three<int>) + 1'000 - 1'000;
    std::cout << (__cplusplus == 201402L ? "" : " not 14") << "\n";
}
