#include <cstdio>

int main() {
    volatile char room[100 << 20];  // 100 MB on the stack
    for (int i = 0; i < 100 << 20; i += 4096) room[i] = 1;
    printf("%d\n", room[0] + 5);
}
