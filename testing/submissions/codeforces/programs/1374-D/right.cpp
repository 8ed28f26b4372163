#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    long long n, k;
    cin >> t;
    while (t-- && cin >> n >> k) {
        map<long long, long long> used;
        long long moves = 0, a;
        while (n-- && cin >> a)
            if (a % k) {
                long long need = k - a % k;
                moves = max(moves, need + k * used[need]++ + 1);
            }
        cout << moves << "\n";
    }
}
