#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    long long n, k;
    cin >> t;
    while (t-- && cin >> n >> k) {
        cout << "YES\n";
        for (int i = 1; i < k; i++) cout << "1 ";
        cout << n - k + 1 << "\n";
    }
}
