// expect: passed AC passed_by_exact_match
#include <array>
#include <iostream>

constexpr unsigned long long M = 998244353;
using Matrix = std::array<unsigned long long, 4>;

Matrix times(const Matrix &a, const Matrix &b) {
    return {(a[0] * b[0] + a[1] * b[2]) % M, (a[0] * b[1] + a[1] * b[3]) % M,
            (a[2] * b[0] + a[3] * b[2]) % M, (a[2] * b[1] + a[3] * b[3]) % M};
}

int main() {
    long long n;
    std::cin >> n;
    Matrix result{1, 0, 0, 1}, base{1, 1, 1, 0};
    for (; n; n /= 2, base = times(base, base))
        if (n % 2) result = times(result, base);
    std::cout << result[1] << "\n";
}
