#include <cstdio>

int main() {
    puts("6");
    fflush(stdout);
    for (;;) fputs("still here, still here, still here\n", stderr);
}
