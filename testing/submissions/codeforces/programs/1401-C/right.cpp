#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        vector<int> a(n);
        for (int &x : a) cin >> x;
        int low = *min_element(a.begin(), a.end());
        vector<int> free;
        for (int x : a)
            if (x % low == 0) free.push_back(x);
        sort(free.begin(), free.end());
        size_t next = 0;
        for (int &x : a)
            if (x % low == 0) x = free[next++];
        puts(is_sorted(a.begin(), a.end()) ? "YES" : "NO");
    }
}
