#include <cstdio>
#include <sys/mman.h>

// The kernel would reserve this much without a limit of the process: nothing of it is backed.
int main() {
    void *room = mmap(nullptr, 65ull << 30, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    puts(room == MAP_FAILED ? "6" : "0");
}
