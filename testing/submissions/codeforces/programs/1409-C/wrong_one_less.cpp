#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n, x, y;
    cin >> t;
    while (t-- && cin >> n >> x >> y) {
        for (int i = 1; i < n; i++) cout << i << " ";
        cout << "\n";
    }
}
