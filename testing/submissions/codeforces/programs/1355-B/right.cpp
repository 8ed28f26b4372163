#include <iostream>
#include <algorithm>
#include <map>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        map<int, int> count;
        for (int i = 0, e; i < n; i++) cin >> e, count[e]++;
        int left = 0, groups = 0;
        for (auto [e, c] : count) left += c, groups += left / e, left %= e;
        cout << groups << "\n";
    }
}
