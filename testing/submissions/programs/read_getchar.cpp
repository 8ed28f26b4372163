#include <cstdio>

static long long number() {
    int c = getchar();
    while (c != '-' && (c < '0' || c > '9')) c = getchar();
    long long sign = 1, x = 0;
    if (c == '-') sign = -1, c = getchar();
    for (; c >= '0' && c <= '9'; c = getchar()) x = x * 10 + c - '0';
    return sign * x;
}

int main() {
    long long n = number(), sum = 0;
    while (n--) sum += number();
    printf("%lld", sum);
}
