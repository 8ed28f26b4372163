#include <bits/stdc++.h>
using namespace std;

vector<vector<int>> friends;
vector<long long> cost;
vector<bool> told;

long long cheapest(int x) {
    told[x] = true;
    long long best = cost[x];
    for (int y : friends[x])
        if (!told[y]) best = min(best, cheapest(y));
    return best;
}

int main() {
    int n, m;
    cin >> n >> m;
    friends.resize(n);
    cost.resize(n);
    told.resize(n);
    for (auto &x : cost) cin >> x;
    for (int u, v; m-- && cin >> u >> v;) {
        friends[u - 1].push_back(v - 1);
        friends[v - 1].push_back(u - 1);
    }
    long long total = 0;
    for (int x = 0; x < n; x++)
        if (!told[x]) total += cheapest(x);
    cout << total;
}
