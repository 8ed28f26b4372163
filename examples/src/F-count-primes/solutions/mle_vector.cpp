// expect: failed MLE memory_limit_exceeded
#include <iostream>
#include <vector>

int main() {
    int n;
    std::cin >> n;
    std::vector<long long> smallest(2 * n + 2, 0);
    int count = 0;
    for (long long p = 2; p <= n; p++) {
        if (smallest[p] == 0) count++;
        for (long long k = p; smallest[p] == 0 && k <= 2LL * n; k += p)
            if (k > p && smallest[k] == 0) smallest[k] = p;
    }
    std::cout << count << "\n";
}
