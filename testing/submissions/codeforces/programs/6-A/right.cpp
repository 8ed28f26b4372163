#include <bits/stdc++.h>
using namespace std;

int main() {
    int a[4], best = 0;
    for (int &x : a) cin >> x;
    sort(a, a + 4);
    for (int skip = 0; skip < 4; skip++) {
        vector<int> b;
        for (int i = 0; i < 4; i++)
            if (i != skip) b.push_back(a[i]);
        best = max(best, b[0] + b[1] > b[2] ? 2 : b[0] + b[1] == b[2]);
    }
    const char *names[] = {"IMPOSSIBLE", "SEGMENT", "TRIANGLE"};
    cout << names[best];
}
