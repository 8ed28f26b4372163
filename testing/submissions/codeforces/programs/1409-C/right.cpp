#include <iostream>
#include <climits>
using namespace std;

int main() {
    int t, n, x, y;
    cin >> t;
    while (t-- && cin >> n >> x >> y) {
        int best = INT_MAX, from = 0, by = 0;
        for (int d = 1; d <= y - x; d++)
            for (int a = 1; a <= x; a++)
                if ((x - a) % d == 0 && (y - a) % d == 0 && (y - a) / d < n) {
                    int last = a + (n - 1) * d;
                    if (last < best) best = last, from = a, by = d;
                }
        for (int i = n - 1; i >= 0; i--) cout << from + i * by << " ";
        cout << "\n";
    }
}
