#include <bits/stdc++.h>
using namespace std;

int main() {
    long long n, s, x;
    cin >> n >> s;
    for (x = s; x <= n; x++) {
        long long digits = 0;
        for (long long y = x; y; y /= 10) digits += y % 10;
        if (x - digits >= s) break;
    }
    cout << max(0LL, n - x + 1);
}
