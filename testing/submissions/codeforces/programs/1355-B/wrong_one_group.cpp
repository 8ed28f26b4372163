#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n, e;
    cin >> t;
    while (t-- && cin >> n) {
        for (int i = 0; i < n; i++) cin >> e;
        cout << "1\n";
    }
}
