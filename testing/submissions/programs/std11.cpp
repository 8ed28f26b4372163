#include <iostream>
#include <memory>
#include <vector>

template <typename... T> int count(T...) { return sizeof...(T); }

int main() {
    std::vector<int> a{1, 2, 3};
    std::unique_ptr<int> sum(new int(0));
    for (auto x : a) [&] { *sum += x; }();
    std::cout << *sum + count() << (__cplusplus == 201103L ? "" : " not 11") << "\n";
}
