#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

int main() {
    int n;
    std::cin >> n;
    std::vector<long long> a(n);
    for (auto &x : a) std::cin >> x;
    std::atomic<long long> sum{0};
    std::vector<std::thread> all;
    for (int k = 0; k < 4; k++)
        all.emplace_back([&, k] {
            for (int i = k; i < n; i += 4) sum += a[i];
        });
    for (auto &one : all) one.join();
    std::cout << sum << "\n";
}
