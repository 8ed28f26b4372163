#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, best = 0;
    cin >> n;
    vector<int> a(n);
    for (int &x : a) cin >> x;
    volatile int hidden = 0;
    for (long long again = 0; again < 2000000000LL; again++)  // far too careful
        for (int i = 0; i < n; i++) hidden = max(int(hidden), a[i]);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            auto [low, high] = minmax_element(a.begin() + i, a.begin() + j + 1);
            if (*high - *low <= 1) best = max(best, j - i + 1);
        }
    cout << best;
}
