#include <iostream>
using namespace std;

int main() {
    long long n, packets = 0;
    cin >> n;
    while (n) n /= 2, packets++;
    cout << packets;
}
