#include <cstdio>

// Distributions differ in what their compilers add; a program must not end differently for it.
int main() {
#if defined _FORTIFY_SOURCE || defined __SSP__ || defined __SSP_STRONG__ || defined __SSP_ALL__
    puts("0");
#else
    puts("6");
#endif
}
