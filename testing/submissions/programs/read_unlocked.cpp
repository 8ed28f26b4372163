#include <cstdio>

int main() {
    long long numbers[100] = {0};
    int count = 0, c;
    bool inside = false;
    while ((c = getchar_unlocked()) != EOF) {
        bool digit = c >= '0' && c <= '9';
        if (digit) numbers[count] = numbers[count] * 10 + c - '0';
        if (inside && !digit) count++;
        inside = digit;
    }
    count += inside;
    long long sum = 0;
    for (int i = 1; i < count; i++) sum += numbers[i];
    printf("%lld\n", sum);
}
