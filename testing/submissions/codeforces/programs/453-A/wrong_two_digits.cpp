#include <bits/stdc++.h>
using namespace std;

int main() {
    int m, n;
    cin >> m >> n;
    double expected = m;
    for (int k = 1; k < m; k++) expected -= pow(1.0 * k / m, n);
    printf("%.1f\n", expected);
}
