// expect: failed WA failed_outputs_match
#include <cstdio>

int main() {
    int n, last = -1, x, changes = 0;
    scanf("%d", &n);
    while (n--) {
        scanf("%d", &x);
        changes += x != last;  // counts runs, which needs sorted input
        last = x;
    }
    printf("%d\n", changes);
}
