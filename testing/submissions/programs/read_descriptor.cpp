#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

int main() {
    std::string all;
    char block[7];
    for (ssize_t got; (got = read(0, block, sizeof block)) > 0;) all.append(block, got);
    char *at = all.data();
    long long n = strtoll(at, &at, 10), sum = 0;
    while (n--) sum += strtoll(at, &at, 10);
    std::string answer = std::to_string(sum) + "\n";
    if (write(1, answer.data(), answer.size()) < 0) return 1;
}
