#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, x;
    scanf("%d", &n);
    vector<int> seen;
    for (int i = 0; i < n; i++) scanf("%d", &x), seen.at(x)++;
    printf("%d", seen.at(0));
}
