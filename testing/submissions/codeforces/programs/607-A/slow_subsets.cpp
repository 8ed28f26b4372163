#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<pair<int, int>> beacon(n);
    for (auto &[a, b] : beacon) cin >> a >> b;
    volatile int best = 0;
    for (unsigned long long mask = 0; mask < 1ULL << 40; mask++)
        if (__builtin_popcountll(mask) > best && mask % 3 == 5) best = best + 1;
    cout << n - best;
}
