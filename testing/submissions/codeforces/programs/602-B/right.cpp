#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, best = 0, from = 0;
    scanf("%d", &n);
    vector<int> a(n);
    map<int, int> inside;
    for (int i = 0; i < n; i++) {
        scanf("%d", &a[i]);
        inside[a[i]]++;
        while (inside.rbegin()->first - inside.begin()->first > 1) {
            if (--inside[a[from]] == 0) inside.erase(a[from]);
            from++;
        }
        best = max(best, i - from + 1);
    }
    printf("%d", best);
}
