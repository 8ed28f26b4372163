#include <iostream>
using namespace std;

const long long M = 1000000007;

long long power(long long a, long long n) {
    long long r = 1;
    for (a %= M; n; n /= 2, a = a * a % M)
        if (n % 2) r = r * a % M;
    return r;
}

int main() {
    long long x, n, answer = 1;
    cin >> x >> n;
    auto take = [&](long long p) {
        long long times = 0;
        for (long long rest = n / p; rest; rest /= p) times += rest;
        answer = answer * power(p, times) % M;
    };
    for (long long p = 2; p * p <= x; p++)
        if (x % p == 0) {
            take(p);
            while (x % p == 0) x /= p;
        }
    if (x > 1) take(x);
    cout << answer;
}
