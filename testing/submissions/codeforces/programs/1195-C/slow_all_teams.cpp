#include <bits/stdc++.h>
using namespace std;

int n;
vector<long long> h[2];

long long best(int i, int last, int depth) {
    if (depth == 40) return i;
    long long b = best(i, 2, depth + 1);
    for (int row = 0; row < 2; row++)
        if (row != last) b = max(b, best((i + 1) % n, row, depth + 1) + h[row][i]);
    return b;
}

int main() {
    cin >> n;
    for (auto &row : h) {
        row.resize(n);
        for (auto &x : row) cin >> x;
    }
    cout << best(0, 2, 0);
}
