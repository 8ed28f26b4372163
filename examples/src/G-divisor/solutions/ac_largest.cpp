// expect: passed AC passed_by_checker
#include <cstdio>

int main() {
    int n;
    scanf("%d", &n);
    for (int d = n - 1; d > 1; d--)
        if (n % d == 0) {
            printf("%d\n", d);
            return 0;
        }
    puts("-1");
}
