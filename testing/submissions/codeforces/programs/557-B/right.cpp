#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    double w;
    cin >> n >> w;
    vector<double> cups(2 * n);
    for (double &x : cups) cin >> x;
    sort(cups.begin(), cups.end());
    printf("%.9f\n", min(w, 3 * n * min(cups[0], cups[n] / 2)));
}
