#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int deep(int n) { return n ? 1 + deep(n - 1) * (n > 0) : 0; }

int main(void) {
    char what[16];
    if (scanf("%15s", what) != 1) return 9;
    if (!strcmp(what, "hello")) puts("hello");
    if (!strcmp(what, "sum")) {
        int n, x;
        long long sum = 0;
        if (scanf("%d", &n) != 1) return 9;
        while (n-- && scanf("%d", &x) == 1) sum += x;
        printf("%lld\n", sum);
    }
    if (!strcmp(what, "crash")) abort();
    if (!strcmp(what, "error")) return 3;
    if (!strcmp(what, "memory"))
        for (;;) {
            char *p = malloc(1 << 20);
            if (p) memset(p, 1, 1 << 20);
            if (p && p[77] != 1) return 9;
        }
    if (!strcmp(what, "spin"))
        for (volatile int i = 0;; i++) continue;
    if (!strcmp(what, "deep")) printf("%d\n", deep(50000));
    return 0;
}
