#include <iostream>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n)
        for (int one = 0; one < n; one++) {
            for (int i = 0, next = n; i < n; i++) cout << (i == one ? 1 : next--) << " ";
            cout << "\n";
        }
}
