#include <bits/stdc++.h>
using namespace std;

int main() {
    unsigned long long n, packets = 0;
    cin >> n;
    for (volatile unsigned long long x = n - (1ULL << 63); x; x--);  // wraps around
    while (n) n /= 2, packets++;
    cout << packets;
}
