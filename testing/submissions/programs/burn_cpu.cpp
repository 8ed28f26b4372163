#include <cstdio>
#include <ctime>

// Burns the CPU milliseconds that it reads, then answers.
int main() {
    double ms;
    scanf("%lf", &ms);
    volatile unsigned x = 1;
    while (clock() * 1000.0 / CLOCKS_PER_SEC < ms)
        for (int i = 0; i < 1000; i++) x = x * 5 + 1;
    puts("6");
}
