#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<long long> a(n);
    for (auto &x : a) cin >> x;
    volatile long long left = 0;
    for (long long again = 0; again < 1LL << 36; again++) left = left + a[again % n];
    cout << left;
}
