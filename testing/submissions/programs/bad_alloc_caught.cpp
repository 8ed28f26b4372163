#include <cstdio>
#include <new>
#include <vector>

int main() {
    long long n;
    scanf("%lld", &n);
    try {
        std::vector<long long> room(n << 40);
        printf("%lld\n", room[0]);
    } catch (const std::bad_alloc &) {
        puts("6");
    }
}
