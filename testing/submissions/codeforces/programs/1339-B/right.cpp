#include <iostream>
#include <algorithm>
#include <vector>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        vector<int> a(n);
        for (int &x : a) cin >> x;
        sort(a.begin(), a.end());
        int i = (n - 1) / 2, j = i + 1;
        cout << a[i--];
        while (i >= 0 || j < n) {
            if (j < n) cout << " " << a[j++];
            if (i >= 0) cout << " " << a[i--];
        }
        cout << "\n";
    }
}
