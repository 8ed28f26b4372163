#include <bits/stdc++.h>
using namespace std;

int main() {
    long long x, n, answer = 1;
    cin >> x >> n;
    for (long long p = 2; p <= x && p < 1000000; p++)
        if (x % p == 0) {
            answer = answer * p % 1000000007;
            while (x % p == 0) x /= p;
        }
    cout << answer + 1;
}
