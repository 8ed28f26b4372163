#include <cstdio>

__attribute__((noinline)) long long depth(volatile long long n) {
    volatile char room[256] = {0};
    return n < 0 ? room[0] : 1 + depth(n + 1);
}

int main() { printf("%lld\n", depth(0)); }
