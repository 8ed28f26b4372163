#include <cstdio>
#include <unistd.h>

int main() {
    printf("6");  // still in the buffer of stdio
    _exit(0);
}
