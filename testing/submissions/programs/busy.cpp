#include <cstdio>

int main() {
    volatile unsigned long long x = 1;
    for (;;) x = x * 6364136223846793005ULL + 1;
}
