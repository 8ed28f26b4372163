#include <bits/stdc++.h>
using namespace std;

int main() {
    int m, n;
    cin >> m >> n;
    mt19937 dice(1);
    long long throws = 4000000000LL / n;
    double sum = 0;
    for (long long t = 0; t < throws; t++) {
        unsigned best = 0;
        for (int i = 0; i < n; i++) best = max(best, unsigned(dice() % m + 1));
        sum += best;
    }
    printf("%.10f\n", sum / throws);
}
