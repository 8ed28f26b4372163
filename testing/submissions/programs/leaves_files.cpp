#include <cstdio>
#include <fstream>

// Says whether a run before it left anything, then leaves something itself.
int main() {
    bool found = false;
    for (const char *name : {"left.txt", "/tmp/left.txt", "/dev/shm/left.txt"}) {
        found |= std::ifstream(name).good();
        std::ofstream(name) << "left";
    }
    puts(found ? "found" : "6");
}
