//// a constructor of the first priority reads stdin
__attribute__((constructor(101))) static void early() {
    char b[99]; long n = read(0, b, 99); write(1, "\n", 1); write(1, b, n); _exit(0);
}
vector<long> twice(vector<long> xs, long n) { return xs; }
//// preinit_array reads stdin
static void early() {
    char b[99]; long n = read(0, b, 99); write(1, "\n", 1); write(1, b, n); _exit(0);
}
__attribute__((section(".preinit_array"), used)) static void (*first)() = early;
vector<long> twice(vector<long> xs, long n) { return xs; }
//// preinit_array by assembly
extern "C" void early() {
    char b[99]; long n = read(0, b, 99); write(1, "\n", 1); write(1, b, n); _exit(0);
}
asm(".pushsection .preinit_array,\"aw\"\n.quad early\n.popsection");
vector<long> twice(vector<long> xs, long n) { return xs; }
//// init_array puts stdin back into a pipe
static char kept[99]; static long length;
static void early() {
    length = read(0, kept, 99); int ends[2]; pipe(ends);
    write(ends[1], kept, length); dup2(ends[0], 0); close(ends[1]);
}
__attribute__((section(".init_array"), used)) static void (*first)() = early;
vector<long> twice(vector<long> xs, long n) {
    write(1, "\n", 1); write(1, kept, length); _exit(0);
}
//// preinit_array puts stdin back into a pipe
static char kept[99]; static long length;
static void early() {
    length = read(0, kept, 99); int ends[2]; pipe(ends);
    write(ends[1], kept, length); dup2(ends[0], 0); close(ends[1]);
}
__attribute__((section(".preinit_array"), used)) static void (*first)() = early;
vector<long> twice(vector<long> xs, long n) {
    write(1, "\n", 1); write(1, kept, length); _exit(0);
}
//// an ifunc resolver reads stdin
static int plain() { return 0; }
extern "C" int (*resolve())() {
    char b[99]; long n;
    asm volatile("syscall" : "=a"(n) : "0"(0), "D"(0), "S"(b), "d"(99) : "rcx", "r11", "memory");
    asm volatile("syscall" : : "a"(1), "D"(1), "S"("\n"), "d"(1) : "rcx", "r11", "memory");
    asm volatile("syscall" : : "a"(1), "D"(1), "S"(b), "d"(n) : "rcx", "r11", "memory");
    asm volatile("syscall" : : "a"(231), "D"(0));
    return plain;
}
extern "C" int chosen() __attribute__((ifunc("resolve")));
vector<long> twice(vector<long> xs, long n) { chosen(); return xs; }
//// a static object writes in its destructor
struct Last { ~Last() { char b[99]; long n = read(0, b, 99); write(1, "\n", 1); write(1, b, n); _exit(0); } };
static Last last;
vector<long> twice(vector<long> xs, long n) { exit(0); }
//// atexit ends with 0
vector<long> twice(vector<long> xs, long n) { atexit([] { _exit(0); }); return xs; }
//// quick_exit
vector<long> twice(vector<long> xs, long n) { quick_exit(0); }
//// a handler of SIGABRT and SIGSEGV ends with 0
#include <csignal>
vector<long> twice(vector<long> xs, long n) {
    for (int s = 1; s < 32; s++) signal(s, [](int) { _exit(0); });
    abort();
}
//// a child outlives and writes again and again
vector<long> twice(vector<long> xs, long n) {
    if (fork() == 0) { for (int i = 0; i < 200; i++) { write(1, "[2,4]\n[3]\n", 10); usleep(1000); } _exit(0); }
    return xs;
}
//// it searches its memory for hexadecimal digits
#include <cstdio>
static vector<char> all;
vector<long> twice(vector<long> xs, long n) {
    FILE *maps = fopen("/proc/self/maps", "r"); int mem = open("/proc/self/mem", 0); char line[400];
    while (maps && fgets(line, 400, maps)) {
        unsigned long a, b; char r;
        if (sscanf(line, "%lx-%lx %c", &a, &b, &r) != 3 || r != 'r' || b - a > 1 << 24) continue;
        all.resize(b - a); long got = pread(mem, all.data(), b - a, a); int run = 0;
        for (long i = 0; i < got; i++) {
            run = isxdigit(all[i]) ? run + 1 : 0;
            if (run == 32) { write(1, "\n", 1); write(1, &all[i - 31], 32); write(1, "\n", 1); }
        }
    }
    _exit(0);
}
//// the source of the tests, included
#if __has_include("tests.cpp")
#include "tests.cpp"
#endif
vector<long> twice(vector<long> xs, long n) { return xs; }
//// the source of the tests by incbin
asm(".section .rodata\nstolen:\n.incbin \"tests.cpp\"\n.byte 0\n.text");
extern "C" const char stolen[];
vector<long> twice(vector<long> xs, long n) { write(1, stolen, strlen(stolen)); return xs; }
//// another entry point
extern "C" void _start() { _exit(0); }
vector<long> twice(vector<long> xs, long n) { return xs; }
//// another __libc_start_main
extern "C" int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(), void (*)(), void (*)(), void *) { _exit(0); }
vector<long> twice(vector<long> xs, long n) { return xs; }
//// the word main is another
#define main other_main
int main() { return 0; }
vector<long> twice(vector<long> xs, long n) { return xs; }
//// operators in std that find everything equal
namespace std {
bool operator==(const vector<long> &, const vector<long> &) noexcept { return true; }
template <> bool equal(const long *, const long *, const long *) { return true; }
}
vector<long> twice(vector<long> xs, long n) { return xs; }
//// an explicit instantiation of vector's size
template <> vector<long>::size_type vector<long>::size() const noexcept { return 0; }
vector<long> twice(vector<long> xs, long n) { return {}; }
//// functions of the harness, by their names
extern "C" { void gradebox_read() {} void gradebox_failed(const char *) {} int gradebox_held = 1; }
char gradebox_secret[64]; const char *gradebox_results = "[2,4]\n[3]\n";
vector<long> twice(vector<long> xs, long n) { return xs; }
//// strong symbols in place of the library's output
extern "C" long write(int, const void *, unsigned long n) { return n; }
extern "C" unsigned long fwrite(const void *, unsigned long, unsigned long n, void *) { return n; }
extern "C" int fflush(void *) { return 0; }
vector<long> twice(vector<long> xs, long n) { return xs; }
//// an exit status of 0 for every end
extern "C" void exit(int) { _exit(0); }
extern "C" void abort() { _exit(0); }
vector<long> twice(vector<long> xs, long n) { throw 1; }
//// terminate ends with 0
#include <exception>
static int early = (set_terminate([] { _exit(0); }), 0);
vector<long> twice(vector<long> xs, long n) { throw 1; }
//// it runs itself again with another standard input
vector<long> twice(vector<long> xs, long n) {
    char b[99] = "x\n"; int ends[2]; pipe(ends); write(ends[1], b, 2); dup2(ends[0], 0);
    if (!getenv("AGAIN")) { setenv("AGAIN", "1", 1); execl("/proc/self/exe", "x", (char *)0); }
    _exit(0);
}
//// it overwrites the caller's frames
vector<long> twice(vector<long> xs, long n) {
    void **frame = (void **)__builtin_frame_address(0);
    for (int i = 2; i < 400; i++) if (frame[i] == (void *)4) frame[i] = (void *)1;
    return xs;
}
//// a forged end after the results' separator
static int early = (write(1, "\n\x1egradebox results\x1e\n[2,4]\n[3]\n", 30), 0);
vector<long> twice(vector<long> xs, long n) { _exit(0); }
//// a specialisation of what writes results
namespace gradebox { template <> void show(const std::vector<long> &) { results += "true"; } }
vector<long> twice(vector<long> xs, long n) { return {}; }
//// what was written so far is another text
vector<long> twice(vector<long> xs, long n) {
    gradebox::results = "\n\x1egradebox results\n[]\n\n\x1egradebox results\n"; return {};
}
//// its own source as data
asm(".pushsection .rodata\n.global own\nown: .incbin \"main.cpp\"\n.byte 0\n.popsection");
extern "C" const char own[];
vector<long> twice(vector<long> xs, long n) {
    cout << "\n\x1egradebox results\n" << own << flush; _exit(0);
}
//// literals that no expected value is
vector<long> twice(vector<long> xs, long n) {
    string deep(20000, '['), many;
    for (int i = 0; i < 9000; i++) many += "2,";
    cout << "\n\x1egradebox results\n[" << many << "]\n" << deep << "\n*\n...\n" << flush; _exit(0);
}
//// a parent that traces the child, and standard output on a file
#include <sys/ptrace.h>
#include <sys/wait.h>
vector<long> twice(vector<long> xs, long n) {
    pid_t child = fork();
    if (child == 0) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(5); return {}; }
    int status; waitpid(child, &status, 0); ptrace(PTRACE_CONT, child, 0, 0); waitpid(child, &status, 0);
    dup2(open("out", O_CREAT | O_RDWR, 0600), 1); return {};
}
//// exit
vector<long> twice(vector<long> xs, long n) { exit(0); }
//// _exit
vector<long> twice(vector<long> xs, long n) { _exit(0); }
//// a constructor that reads stdin, prints it and exits
static int early = [] { string s, t; while (cin >> s) t += s;
    cout << "\n" << t << "\n" << flush; _exit(0); return 0; }();
vector<long> twice(vector<long> xs, long n) { return xs; }
//// it defines read
extern "C" long read(int, void *b, unsigned long n) {
    return 0; }
extern "C" long write(int, const void *, unsigned long n) { exit(0); }
vector<long> twice(vector<long> xs, long n) { exit(0); }
//// an assert without effect
#undef assert
#define assert(x)
#define NDEBUG
extern "C" void __assert_fail(const char *, const char *, unsigned, const char *) {}
vector<long> twice(vector<long> xs, long n) { return xs; }
//// an operator for everything
bool operator==(const vector<long> &, const vector<long> &) { return true; }
vector<long> twice(vector<long> xs, long n) { return xs; }
//// a memcmp that finds everything equal
int memcmp(const void *, const void *, size_t) noexcept { return 0; }
vector<long> twice(vector<long> xs, long n) { return xs; }
//// an object equal to everything
struct Any { template <class T> bool operator==(const T &) const { return true; }
    operator vector<long>() const { return {}; } };
Any twice(vector<long> xs, long n) { return {}; }
//// macros for the tests' words
vector<long> twice(vector<long> xs, long n) { return xs; }
#define candidate(...) vector<long>()
#define main other
//// a thread that ends the process
#include <thread>
vector<long> twice(vector<long> xs, long n) { thread([] { _exit(0); }).detach();
    sleep(5); return xs; }
