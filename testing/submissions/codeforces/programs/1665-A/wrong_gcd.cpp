#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    long long n;
    cin >> t;
    while (t-- && cin >> n) cout << "1 1 " << n - 3 << " 1\n";
}
