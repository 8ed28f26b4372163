#include <chrono>
#include <cstdio>
#include <thread>

// Longer than the CPU limit on the clock, nothing on the CPU.
int main() {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    puts("6");
}
