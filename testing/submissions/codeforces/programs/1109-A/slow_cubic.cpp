#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<int> a(n);
    for (int &x : a) cin >> x;
    volatile long long pairs = 0;
    for (long long l = 0; l < 100000; l++)
        for (long long r = l + 1; r < 1000000; r += 2) {
            int sum = 0;
            for (int i = 0; i < n; i++) sum ^= a[i] * (i & 1);
            pairs = pairs + (sum == 0);
        }
    cout << pairs;
}
