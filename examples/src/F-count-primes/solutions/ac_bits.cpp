// expect: passed AC passed_by_exact_match
#include <bitset>
#include <iostream>

std::bitset<5000001> composite;

int main() {
    int n, count = 0;
    std::cin >> n;
    for (int p = 2; p <= n; p++) {
        if (composite[p]) continue;
        count++;
        for (long long k = 1LL * p * p; k <= n; k += p) composite[k] = true;
    }
    std::cout << count << "\n";
}
