// expect: failed RE runtime_error
#include <cstdio>

int table[100];

int main() {
    long long n;
    scanf("%lld", &n);
    table[1] = 1;
    for (int i = 2; i < 100; i++) table[i] = (table[i - 1] + table[i - 2]) % 998244353;
    printf("%d\n", table[n]);
}
