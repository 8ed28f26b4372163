#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

struct Base {
    Base() { call(); }
    void call() { act(); }
    virtual void act() = 0;
};
struct Derived : Base {
    void act() override {}
};

// Crashes in the way its input names, after it has printed a right answer.
int main() {
    char word[100];
    if (scanf("%99s", word) != 1) return 99;
    const std::string way = word;
    puts("6");
    fflush(stdout);
    volatile int zero = 0;
    if (way == "null") *reinterpret_cast<volatile int *>(static_cast<long>(zero)) = 1;
    if (way == "wild") reinterpret_cast<volatile int *>(zero + 0x7000000000000000L)[0] = 1;
    if (way == "divide") zero = 100 / zero;
    if (way == "abort") abort();
    if (way == "assert") assert(zero == 1);
    if (way == "throw") throw std::runtime_error("a \xff strange text");
    if (way == "throw_int") throw 42;
    if (way == "at") return std::vector<int>(3).at(zero + 3);
    if (way == "stoi") return std::stoi("no number");
    if (way == "trap") __builtin_trap();
    if (way == "virtual") Derived();
    if (way == "noexcept") [] () noexcept { throw 1; }();
    if (way == "double_free") {
        void *volatile room = malloc(64);
        free(room);
        free(room);
    }
    if (way == "smash") {
        volatile char room[8];
        volatile int far = 100000000;
        for (int i = 0; i < far; i++) room[i] = 1;
    }
    if (way == "raise") {
        int number;
        if (scanf("%d", &number) == 1) raise(number);
    }
    if (way == "exit") {
        int code;
        if (scanf("%d", &code) == 1) exit(code);
    }
    if (way == "quick_exit") quick_exit(7);
    if (way == "return") return 1;
    return 0;
}
