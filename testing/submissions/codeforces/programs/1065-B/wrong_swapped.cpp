#include <bits/stdc++.h>
using namespace std;

int main() {
    long long n, m, used = 0;
    cin >> n >> m;
    while (used * (used - 1) / 2 < m) used++;
    cout << n - used << " " << n - 2 * m - 1;
}
