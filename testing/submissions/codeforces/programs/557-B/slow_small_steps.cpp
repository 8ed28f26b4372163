#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    double w;
    cin >> n >> w;
    vector<double> cups(2 * n);
    for (double &x : cups) cin >> x;
    sort(cups.begin(), cups.end());
    volatile double tea = 0;  // pours a tiny drop at a time
    while (tea < min(cups[0], cups[n] / 2)) tea = tea + 1e-11;
    printf("%.9f", min(w, 3 * n * tea));
}
