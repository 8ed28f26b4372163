#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, x, sum = 0;
    cin >> n;
    while (n-- && cin >> x) sum += n % 2 ? x : -x;
    puts(sum == 0 ? "YES" : "NO");
}
