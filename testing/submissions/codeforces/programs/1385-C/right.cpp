#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        vector<int> a(n);
        for (int &x : a) cin >> x;
        reverse(a.begin(), a.end());
        auto top = is_sorted_until(a.begin(), a.end());
        auto end = is_sorted_until(top == a.end() ? top : top - 1, a.end(), greater<int>());
        cout << a.end() - end << "\n";
    }
}
