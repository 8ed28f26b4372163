// expect: failed RE runtime_error
#include <cassert>
#include <iostream>

int main() {
    long long n, a = 0, b = 1;
    std::cin >> n;
    assert(n < 1000000);
    while (n--) {
        long long next = (a + b) % 998244353;
        a = b;
        b = next;
    }
    std::cout << a << "\n";
}
