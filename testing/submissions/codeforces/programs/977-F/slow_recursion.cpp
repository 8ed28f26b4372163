#include <bits/stdc++.h>
using namespace std;

int n;
vector<int> a;

long long longest(int i, int last, int depth) {
    if (depth == 45) return 0;
    long long without = longest((i + 1) % n, last, depth + 1);
    long long with = longest((i + 1) % n, a[i], depth + 1) + (a[i] == last + 1);
    return max(without, with);
}

int main() {
    cin >> n;
    a.resize(n);
    for (int &x : a) cin >> x;
    cout << longest(0, -1, 0);
}
