#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    string s;
    cin >> t;
    while (t-- && cin >> s) {
        int n = s.size(), at = -1;
        for (int i = 0; i < n; i++)
            if (s[i] != 'a') at = i;
        if (at < 0) cout << "NO\n";
        else cout << "YES\n" << s.substr(0, n - at) + "a" + s.substr(n - at) << "\n";
    }
}
