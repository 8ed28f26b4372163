#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n)
        for (int row = 0; row < n; row++) {
            for (int i = n; i > 0; i--) cout << i << " ";
            cout << "\n";
        }
}
