#include <cstdio>
#include <vector>

int main() {
    long long n;
    scanf("%lld", &n);
    std::vector<long long> room(n << 40);  // 2^43 bytes and more
    printf("%lld\n", room[0]);
}
