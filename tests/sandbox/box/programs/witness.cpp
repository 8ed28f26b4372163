// Tells what it sees of its own start: when, with which descriptors and signals, what it reads.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <unistd.h>

static volatile sig_atomic_t continued;
static long long begun;

__attribute__((constructor)) static void first() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    begun = t.tv_sec * 1000000000LL + t.tv_nsec;
    std::signal(SIGCONT, [](int) { continued = continued + 1; });
}

int main(int argc, char **argv) {
    std::string text, open, waiting;
    char piece[4096];
    for (ssize_t n; (n = read(0, piece, sizeof piece)) > 0;) text.append(piece, n);
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) open += std::to_string(fd) + " ";
    sigset_t set;
    sigpending(&set);
    for (int s = 1; s < 64; s++)
        if (sigismember(&set, s) == 1) waiting += std::to_string(s) + " ";
    unsigned sum = 0;
    for (unsigned char c : text) sum = sum * 31 + c;
    std::printf("%lld\n%d|%s|%s|%zu %u", begun, (int)continued, open.c_str(), waiting.c_str(), text.size(), sum);
    for (int i = 1; i < argc; i++) std::printf("|%s", argv[i]);
    std::puts("");
    if (argc > 1 && !std::strcmp(argv[1], "left")) {
        FILE *f = std::fopen("left", "r");
        std::printf("%s\n", f ? "something was left" : "nothing was left");
        std::fclose(std::fopen("left", "w"));
    }
}
