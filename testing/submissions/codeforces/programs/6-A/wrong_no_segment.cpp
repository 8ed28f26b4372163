#include <bits/stdc++.h>
using namespace std;

int main() {
    int a[4];
    for (int &x : a) cin >> x;
    sort(a, a + 4);
    puts(a[0] + a[1] > a[2] || a[1] + a[2] > a[3] ? "TRIANGLE" : "IMPOSSIBLE");
}
