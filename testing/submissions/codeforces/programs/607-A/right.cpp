#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    scanf("%d", &n);
    vector<int> power(1000002, 0), kept(1000002, 0);
    for (int i = 0, a, b; i < n; i++) scanf("%d %d", &a, &b), power[a] = b;
    int best = 0;
    for (int x = 0; x <= 1000000; x++) {
        kept[x] = x ? kept[x - 1] : 0;
        if (power[x]) kept[x] = 1 + (x > power[x] ? kept[x - power[x] - 1] : 0);
        best = max(best, kept[x]);
    }
    printf("%d", n - best);
}
