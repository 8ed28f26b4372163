#include <bits/stdc++.h>
using namespace std;

int main() {
    long long a;
    cin >> a;
    cout << 6 * a * a + 1 - a % 2;
}
