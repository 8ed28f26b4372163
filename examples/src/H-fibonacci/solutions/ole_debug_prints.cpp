// expect: failed OLE output_limit_exceeded
#include <cstdio>
#include <cstring>

int main() {
    long long n;
    scanf("%lld", &n);
    static char line[1 << 16];
    memset(line, '.', sizeof line);
    for (long long i = 0; i < n; i++) fwrite(line, 1, sizeof line, stdout);
}
