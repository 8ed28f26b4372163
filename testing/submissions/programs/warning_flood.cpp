#include <cstdio>
#define TWO(x) x x
#define MANY(x) TWO(TWO(TWO(TWO(TWO(TWO(TWO(TWO(TWO(TWO(x))))))))))
#pragma GCC diagnostic warning "-Wunused-variable"
int main() {
    MANY({ int unused = 1; })
    MANY({ char narrow = 123456; (void)narrow; })
    puts("6");
}
