#include <bits/stdc++.h>
using namespace std;

int main() {
    string sent, heard;
    cin >> sent >> heard;
    int q = count(heard.begin(), heard.end(), '?');
    cout << 1 / (1 << q);
}
