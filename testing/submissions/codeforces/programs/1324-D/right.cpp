#include <algorithm>
#include <iostream>
#include <vector>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<long long> d(n);
    for (auto &x : d) cin >> x;
    for (auto &x : d) {
        long long b;
        cin >> b;
        x -= b;
    }
    sort(d.begin(), d.end());
    long long pairs = 0;
    for (int i = 0, j = n - 1; i < j;)
        if (d[i] + d[j] > 0) pairs += j-- - i;
        else i++;
    cout << pairs;
}
