#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    cin >> t;
    volatile unsigned long long steps = 0;
    while (steps < 1ULL << 50) steps = steps + 1;
    cout << t;
}
