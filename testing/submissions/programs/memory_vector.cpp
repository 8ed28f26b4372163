#include <cstdio>
#include <vector>

// Reads how many MB to fill.
int main() {
    int mb;
    scanf("%d", &mb);
    std::vector<char> room(size_t(mb) << 20, 1);
    printf("%d\n", room[room.size() / 2] + room.back());
}
