#include <bits/stdc++.h>
using namespace std;

int main() { cout << "Yes"; }
