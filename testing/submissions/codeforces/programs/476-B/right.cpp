#include <bits/stdc++.h>
using namespace std;

string heard;
int goal;

double chance(size_t i, int at) {
    if (i == heard.size()) return at == goal;
    if (heard[i] == '?') return (chance(i + 1, at + 1) + chance(i + 1, at - 1)) / 2;
    return chance(i + 1, at + (heard[i] == '+' ? 1 : -1));
}

int main() {
    string sent;
    cin >> sent >> heard;
    goal = count(sent.begin(), sent.end(), '+') - count(sent.begin(), sent.end(), '-');
    printf("%.12f\n", chance(0, 0));
}
