#include <algorithm>
#include <iostream>
using namespace std;

int main() {
    int t, a[3];
    cin >> t;
    while (t-- && cin >> a[0] >> a[1] >> a[2]) {
        sort(a, a + 3);
        if (a[1] == a[2]) cout << "YES\n" << a[2] << " 1 " << a[0] << "\n";
        else cout << "NO\n";
    }
}
