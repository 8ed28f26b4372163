#include <algorithm>
#include <vector>
#include <iostream>
using namespace std;

int main() {
    int t, n;
    cin >> t;
    while (t-- && cin >> n) {
        vector<int> w(n);
        for (int &x : w) cin >> x;
        sort(w.begin(), w.end());
        int best = 0;
        for (int s = 2; s <= 400; s++) {
            int teams = 0;
            for (int i = 0, j = n - 1; i < j;) {
                int sum = w[i] + w[j];
                if (sum == s) teams++, i++, j--;
                else if (sum < s) i++;
                else j--;
            }
            best = max(best, teams);
        }
        cout << best << "\n";
    }
}
