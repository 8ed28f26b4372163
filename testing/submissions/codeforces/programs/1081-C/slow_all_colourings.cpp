#include <bits/stdc++.h>
using namespace std;

int n, m, k;

long long paint(int i, int last, int changes) {
    if (i == n + 40) return changes == k;
    long long ways = 0;
    for (int colour = 0; colour < m + 2; colour++)
        ways += paint(i + 1, colour, changes + (colour != last));
    return ways;
}

int main() {
    cin >> n >> m >> k;
    cout << paint(0, 0, 0) % 998244353;
}
