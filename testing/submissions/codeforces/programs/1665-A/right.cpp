#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    long long n;
    cin >> t;
    while (t-- && cin >> n) {
        if (n % 4 == 0) cout << n / 4 << " " << n / 4 << " " << n / 4 << " " << n / 4 << "\n";
        else cout << n - 3 << " 1 1 1\n";
    }
}
