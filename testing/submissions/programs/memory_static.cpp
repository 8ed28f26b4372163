#include <cstdio>
#include <cstring>

static char room[400 << 20];

int main() {
    int mb;
    scanf("%d", &mb);
    memset(room, 1, size_t(mb) << 20);
    printf("%d\n", room[0] + room[100]);
}
