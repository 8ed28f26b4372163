#include <future>
#include <iostream>

int main() {
    long long n, a, b, c;
    std::cin >> n >> a >> b >> c;
    auto part = std::async(std::launch::async, [=] { return a + b; });
    std::cout << part.get() + c << "\n";
}
