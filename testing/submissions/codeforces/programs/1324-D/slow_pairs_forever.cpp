#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<int> a(n), b(n);
    for (int &x : a) cin >> x;
    for (int &x : b) cin >> x;
    volatile long long pairs = 0;
    for (long long again = 0; again < 1LL << 34; again++)
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) pairs = pairs + (a[i] + a[j] > b[i] + b[j]);
    cout << pairs;
}
