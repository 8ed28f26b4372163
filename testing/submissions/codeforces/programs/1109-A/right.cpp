#include <cstdio>
using namespace std;

int seen[2][1 << 20];

int main() {
    int n, at = 0;
    long long pairs = 0;
    scanf("%d", &n);
    seen[0][0] = 1;
    for (int i = 1, x; i <= n; i++) {
        scanf("%d", &x);
        at ^= x;
        pairs += seen[i % 2][at]++;
    }
    printf("%lld", pairs);
}
