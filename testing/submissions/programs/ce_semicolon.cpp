#include <cstdio>

int main() {
    puts("6")
}
