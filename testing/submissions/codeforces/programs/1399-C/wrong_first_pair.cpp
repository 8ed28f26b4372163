#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n, w;
    cin >> t;
    while (t-- && cin >> n) {
        set<int> kinds;
        for (int i = 0; i < n; i++) cin >> w, kinds.insert(w);
        cout << kinds.size() / 2 << "\n";
    }
}
