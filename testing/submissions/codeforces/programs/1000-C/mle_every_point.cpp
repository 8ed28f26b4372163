#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<int> depth(1LL << 30, 1);  // one number for every point there could be
    cout << depth[n];
}
