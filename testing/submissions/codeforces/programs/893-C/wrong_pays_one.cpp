#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, m;
    cin >> n >> m;
    vector<int> cost(n);
    for (int &x : cost) cin >> x;
    cout << *min_element(cost.begin(), cost.end()) - 1;
}
