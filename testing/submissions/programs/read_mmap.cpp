#include <cstdio>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>

int main() {
    struct stat info;
    fstat(0, &info);
    void *at = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
    if (at == MAP_FAILED) return 9;
    std::string text(static_cast<char *>(at), info.st_size);
    long long sum = 0, used = 0, n, x;
    int step;
    sscanf(text.c_str(), "%lld%n", &n, &step);
    for (used = step; n--; used += step) {
        sscanf(text.c_str() + used, "%lld%n", &x, &step);
        sum += x;
    }
    printf("%lld\n", sum);
}
