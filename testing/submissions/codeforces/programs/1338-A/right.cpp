#include <bits/stdc++.h>
using namespace std;

int main() {
    int t, n;
    scanf("%d", &t);
    while (t--) {
        scanf("%d", &n);
        long long top = LLONG_MIN, need = 0, x;
        while (n--) {
            scanf("%lld", &x);
            top = max(top, x);
            need = max(need, top - x);
        }
        int seconds = 0;
        while (need >> seconds) seconds++;
        printf("%d\n", seconds);
    }
}
