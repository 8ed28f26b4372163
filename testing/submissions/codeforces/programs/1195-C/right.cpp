#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<vector<long long>> h(2, vector<long long>(n));
    for (auto &row : h)
        for (auto &x : row) cin >> x;
    long long best[2] = {0, 0};
    for (int i = 0; i < n; i++) {
        long long a = max(best[0], best[1] + h[0][i]), b = max(best[1], best[0] + h[1][i]);
        best[0] = a;
        best[1] = b;
    }
    cout << max(best[0], best[1]);
}
