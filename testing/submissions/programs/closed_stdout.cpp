#include <cstdio>
#include <unistd.h>

int main() {
    close(1);
    puts("6");
}
