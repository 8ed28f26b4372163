#include <bits/stdc++.h>
using namespace std;

int main() {
    long long a[6];
    for (auto &x : a) cin >> x;
    long long total = 0, width = a[0];
    // Row by row: up to three bands, each row's triangles are the sum of its two sides.
    long long left = a[5], right = a[1];
    for (long long row = 0; row < a[1] + a[2]; row++) {
        long long next = width + (row < left) - (row >= right);
        total += width + next;
        width = next;
    }
    cout << total;
}
