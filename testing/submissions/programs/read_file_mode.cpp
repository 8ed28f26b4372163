#include <cstdio>

int main() {
    freopen("input.txt", "r", stdin);
    freopen("output.txt", "w", stdout);
    long long n = 0, sum = 0, x;
    scanf("%lld", &n);
    while (n--) scanf("%lld", &x), sum += x;
    printf("%lld\n", sum);
}
