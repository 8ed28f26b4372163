#include <csignal>
#include <cstdio>
#include <unistd.h>

static void handler(int) {
    if (write(1, "6\n", 2) != 2) _exit(1);
    _exit(0);
}

int main() {
    signal(SIGSEGV, handler);
    volatile long zero = 0;
    *reinterpret_cast<volatile int *>(zero) = 1;
}
