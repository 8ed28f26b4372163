#include <cstdio>

struct Speaker {
    Speaker() { printf("1 "); }
    ~Speaker() { puts("3"); }
} speaker;

int main() { printf("2 "); }
