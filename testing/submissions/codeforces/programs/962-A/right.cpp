#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<long long> a(n);
    for (auto &x : a) cin >> x;
    long long sum = accumulate(a.begin(), a.end(), 0LL), done = 0;
    int day = 0;
    while (2 * done < sum) done += a[day++];
    cout << day;
}
