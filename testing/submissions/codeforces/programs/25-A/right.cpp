#include <iostream>
#include <algorithm>
using namespace std;

int main() {
    int n, last[2] = {0, 0}, count[2] = {0, 0};
    cin >> n;
    for (int i = 1, x; i <= n; i++) {
        cin >> x;
        last[x % 2] = i;
        count[x % 2]++;
    }
    cout << last[count[1] == 1];
}
