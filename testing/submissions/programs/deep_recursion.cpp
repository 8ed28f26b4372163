#include <cstdio>

// Uses the result after the call, so that it cannot become a loop.
__attribute__((noinline)) long long depth(int n) {
    volatile char room[64] = {0};
    return n == 0 ? room[0] : 1 + depth(n - 1);
}

int main() { printf("%lld\n", depth(1000000)); }
