#include <cstdio>
#include <fstream>

int main() {
    for (const char *name : {"work.txt", "/tmp/work.txt"}) {
        std::ofstream(name) << "3 ";
        int x = 0;
        std::ifstream(name) >> x;
        if (x != 3) return 1;
        std::remove(name);
    }
    puts("6");
}
