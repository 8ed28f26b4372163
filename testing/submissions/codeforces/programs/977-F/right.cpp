#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    scanf("%d", &n);
    vector<int> a(n);
    map<int, int> best;
    int end = 0;
    for (int &x : a) {
        scanf("%d", &x);
        best[x] = best.count(x - 1) ? best[x - 1] + 1 : 1;
        if (best[x] > best[end]) end = x;
    }
    int length = best[end], want = end;
    vector<int> places;  // found from the back: often other places than from the front
    for (int i = n - 1; i >= 0; i--)
        if (a[i] == want && int(places.size()) < length) places.push_back(i + 1), want--;
    if (int(places.size()) < length) return 1;
    printf("%d\n", length);
    for (int i = length - 1; i >= 0; i--) printf("%d ", places[i]);
}
