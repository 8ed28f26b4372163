#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    scanf("%d", &n);
    map<long long, int> change;
    for (int i = 0; i < n; i++) {
        long long l, r;
        scanf("%lld %lld", &l, &r);
        change[l]++;
        change[r + 1]--;
    }
    vector<long long> count(n + 1);
    long long before = 0;
    int depth = 0;
    for (auto [at, by] : change) {
        count[depth] += at - before;
        before = at;
        depth += by;
    }
    for (int k = 1; k <= n; k++) printf("%lld ", count[k]);
}
