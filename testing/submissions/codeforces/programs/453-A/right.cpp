#include <cstdio>
#include <iostream>
#include <cmath>
using namespace std;

int main() {
    int m, n;
    cin >> m >> n;
    double expected = 0;
    for (int k = 1; k <= m; k++) expected += k * (pow(1.0 * k / m, n) - pow((k - 1.0) / m, n));
    printf("%.10f\n", expected);
}
