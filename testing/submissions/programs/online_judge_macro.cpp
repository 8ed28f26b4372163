#include <cstdio>

int main() {
#ifndef ONLINE_JUDGE
    freopen("at-home.in", "r", stdin);
    freopen("at-home.out", "w", stdout);
#endif
    long long n, sum = 0, x;
    if (scanf("%lld", &n) != 1) return 1;
    while (n--) scanf("%lld", &x), sum += x;
    printf("%lld\n", sum);
}
