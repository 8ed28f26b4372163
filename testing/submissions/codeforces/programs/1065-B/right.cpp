#include <bits/stdc++.h>
using namespace std;

int main() {
    long long n, m;
    cin >> n >> m;
    long long used = m ? ceil((1 + sqrt(1 + 8.0 * m)) / 2) : 0;
    while (used > 0 && (used - 1) * (used - 2) / 2 >= m) used--;
    cout << max(0LL, n - 2 * m) << " " << n - used;
}
