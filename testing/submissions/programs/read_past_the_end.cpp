#include <iostream>

int main() {
    long long sum = 0, x, n;
    std::cin >> n;
    while (std::cin >> x) sum += x;
    for (int i = 0; i < 100; i++) std::cin >> x;  // fails quietly
    std::cout << sum << "\n";
}
