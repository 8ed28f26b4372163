#pragma GCC optimize("O3,unroll-loops")
#pragma GCC target("popcnt")
#include <bits/stdc++.h>
using namespace std;

int main() {
    unsigned long long bits = 0;
    for (int i = 0; i < 6; i++) bits |= 1ULL << (7 * i);
    volatile unsigned long long seen = bits;
    printf("%d\n", __builtin_popcountll(seen));
}
