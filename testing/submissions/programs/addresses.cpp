#include <cstdio>
#include <cstdlib>

int main() {
    int local;
    printf("%p %p %p\n", (void *)main, (void *)&local, malloc(10));
}
