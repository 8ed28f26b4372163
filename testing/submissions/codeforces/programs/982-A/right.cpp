#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    string s;
    cin >> n >> s;
    s = "0" + s + "0";
    bool bad = s.find("11") != string::npos || s.find("000") != string::npos;
    cout << (bad ? "NO" : "YES");
}
