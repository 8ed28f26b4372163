#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    long long n, k;
    cin >> t;
    while (t-- && cin >> n >> k) {
        long long sum = 0, a;
        while (n-- && cin >> a) sum += (k - a % k) % k;
        cout << sum << "\n";
    }
}
