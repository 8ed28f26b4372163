#include <iostream>

int main() {
    int n;
    std::cin >> n;
    long long sum = 0, x;
    while (n--) std::cin >> x, sum += x;
    std::cout << sum << std::endl;
}
