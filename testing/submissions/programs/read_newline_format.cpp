#include <cstdio>

int main() {
    int n, x, sum = 0;
    scanf("%d\n", &n);
    while (n--) scanf("%d\n", &x), sum += x;  // reads on past the last number
    printf("%d", sum);
}
