#include <cstdio>
#include <sys/resource.h>

// What many contest templates do before a deep recursion.
int main() {
    const rlim_t wanted = 128L << 20;
    rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted;
        if (setrlimit(RLIMIT_STACK, &limit) != 0) fputs("could not raise the stack\n", stderr);
    }
    puts("6");
}
