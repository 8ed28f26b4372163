// expect: failed OLE output_limit_exceeded
#include <cstdio>
#include <cstring>

int main() {
    long long n;
    scanf("%lld", &n);
    static char line[1 << 16];
    memset(line, '.', sizeof line);
    // Forgotten debug output: much of it for a large n.
    for (long long i = 1000; i < n; i++) fwrite(line, 1, sizeof line, stdout);
    long long a = 0, b = 1;
    while (n--) {
        long long next = (a + b) % 998244353;
        a = b;
        b = next;
    }
    printf("%lld\n", a);
}
