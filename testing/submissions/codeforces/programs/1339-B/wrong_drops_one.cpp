#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        for (int i = 0, x; i < n; i++) {
            cin >> x;
            if (i) cout << x << " ";
        }
        cout << "\n";
    }
}
