#pragma GCC optimize("O3,unroll-loops")
#pragma GCC target("popcnt,sse4.2")
#include <bits/stdc++.h>
using namespace std;

int main() {
    unsigned long long bits = 0;
    for (int i = 0; i < 6; i++) bits |= 1ULL << (7 * i);
    volatile unsigned long long seen = bits;
    vector<string> words(1, to_string(__builtin_popcountll(seen)));
    map<string, vector<long long>> sums;
    for (auto &word : words) sums[word].push_back(word.size());
    cout << sums.begin()->first << "\n";
}
