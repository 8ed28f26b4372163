// expect: failed WA failed_checker
#include <cstdio>

int main() {
    int n;
    scanf("%d", &n);
    printf("%d\n", n);
}
