// expect: failed RE runtime_error
#include <iostream>

int main() {
    long long n, a = 0, b = 1;
    std::cin >> n;
    if (n > 1000) return 3;
    while (n--) {
        long long next = (a + b) % 998244353;
        a = b;
        b = next;
    }
    std::cout << a << "\n";
}
