#include <thread>
#include <vector>

static void burn() {
    volatile unsigned long long x = 1;
    for (;;) x = x * 6364136223846793005ULL + 1;
}

// Each thread alone stays under the limit for longer than all of them together.
int main() {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) all.emplace_back(burn);
    for (auto &one : all) one.join();
}
