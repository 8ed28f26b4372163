#include <bits/stdc++.h>
using namespace std;

int main() {
    int t;
    string s;
    cin >> t;
    while (t-- && cin >> s) cout << (s == "a" ? "NO" : "YES") << "\n";
}
