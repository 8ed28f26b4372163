#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        long long x;
        for (int i = 0; i < n; i++) cin >> x;
        cout << int(log2(n)) << "\n";
    }
}
