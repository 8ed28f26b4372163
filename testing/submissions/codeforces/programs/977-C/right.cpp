#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, k;
    cin >> n >> k;
    vector<int> a(n);
    for (int &x : a) cin >> x;
    sort(a.begin(), a.end());
    int x = k == n ? 1000000000 : a[k] - 1;  // the largest that fits, another answer than most
    cout << (x >= 1 && (k == 0 || a[k - 1] <= x) ? x : -1);
}
