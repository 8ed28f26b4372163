#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        vector<int> a(n), order(14);
        for (int &x : a) cin >> x;
        iota(order.begin(), order.end(), 0);
        volatile long long seen = 0;
        while (next_permutation(order.begin(), order.end())) seen = seen + order[0];
        cout << seen << "\n";
    }
}
