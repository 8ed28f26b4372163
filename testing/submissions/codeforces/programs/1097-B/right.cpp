#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<int> a(n);
    for (int &x : a) cin >> x;
    bool found = false;
    for (int mask = 0; mask < 1 << n; mask++) {
        int sum = 0;
        for (int i = 0; i < n; i++) sum += mask >> i & 1 ? a[i] : -a[i];
        found |= sum % 360 == 0;
    }
    puts(found ? "YES" : "NO");
}
