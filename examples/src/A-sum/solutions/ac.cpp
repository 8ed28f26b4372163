// expect: passed AC passed_by_exact_match
#include <iostream>

int main() {
    int n;
    std::cin >> n;
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        long long x;
        std::cin >> x;
        sum += x;
    }
    std::cout << sum << "\n";
}
