// expect: failed WA failed_outputs_match
#include <cstdio>

int main() {
    int n;
    unsigned sum = 0;  // wraps at 2^32
    scanf("%d", &n);
    for (int i = 0, x; i < n; i++) {
        scanf("%d", &x);
        sum += x;
    }
    printf("%d\n", (int)sum);
}
