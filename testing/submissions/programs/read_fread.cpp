#include <cstdio>
#include <cstdlib>
#include <string>

int main() {
    std::string all;
    static char block[1 << 16];
    for (size_t got; (got = fread(block, 1, sizeof block, stdin)) > 0;) all.append(block, got);
    char *at = all.data();
    long long n = strtoll(at, &at, 10), sum = 0;
    while (n--) sum += strtoll(at, &at, 10);
    printf("%lld\n", sum);
}
