#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    long long n, k;
    cin >> t;
    while (t-- && cin >> n >> k) {
        long long unit = 0;
        for (long long u : {2, 1})
            if (n - u * (k - 1) > 0 && (n - u * (k - 1)) % 2 == u % 2) unit = u;
        if (!unit) {
            cout << "NO\n";
            continue;
        }
        cout << "YES\n" << n - unit * (k - 1);
        for (int i = 1; i < k; i++) cout << " " << unit;
        cout << "\n";
    }
}
