#include <iostream>
#include <vector>
using namespace std;

int main() {
    const long long M = 998244353;
    int n, m, k;
    cin >> n >> m >> k;
    vector<long long> ways(k + 1);
    ways[0] = m;
    for (int i = 1; i < n; i++)
        for (int j = k; j > 0; j--) ways[j] = (ways[j] + ways[j - 1] * (m - 1)) % M;
    cout << ways[k];
}
