#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    long long p;
    cin >> n >> p;
    vector<double> none(n);
    for (auto &x : none) {
        long long low, high;
        cin >> low >> high;
        x = 1 - double(high / p - (low - 1) / p) / (high - low + 1);
    }
    double sum = 0;
    for (int i = 0; i < n; i++) sum += 1 - none[i] * none[(i + 1) % n];
    cout << fixed << setprecision(9) << sum * 2000;
}
