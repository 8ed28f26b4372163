#include <bits/stdc++.h>
using namespace std;

static int deep(int n, vector<int> &seen) {
    if (!n) return 0;
    seen.push_back(n);
    return 1 + deep(n - 1, seen);
}

int main() {
    string what;
    cin >> what;
    if (what == "hello") cout << "hello\n";
    if (what == "sum") {
        int n, x;
        long long sum = 0;
        cin >> n;
        while (n-- && cin >> x) sum += x;
        cout << sum << "\n";
    }
    if (what == "crash") abort();
    if (what == "error") throw runtime_error("no");
    if (what == "memory") {
        list<vector<char>> kept;
        for (;;) kept.emplace_back(1 << 20, 'x');
    }
    if (what == "spin")
        for (volatile int i = 0;; i++) continue;
    if (what == "deep") {
        vector<int> seen;
        cout << deep(50000, seen) << "\n";
    }
}
