#include <cstdio>
#include <cstdlib>

int main() {
    long long n, sum = 0, x;
    scanf("%lld", &n);
    while (n--) scanf("%lld", &x), sum += x;
    printf("%lld\n", sum);
    fflush(stdout);
    int status = system("pause");  // of another operating system; its failure is ignored
    (void)status;
}
