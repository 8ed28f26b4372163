#include <cstdio>
#include <cstdlib>
#include <cstring>

int main() {
    for (long long total = 0;; total += 1 << 20) {
        char *room = static_cast<char *>(malloc(1 << 20));
        if (room == nullptr) return 1;
        memset(room, int(total >> 20) | 1, 1 << 20);
    }
}
