#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <iostream>
using namespace __gnu_pbds;

int main() {
    tree<int, null_type, std::less<int>, rb_tree_tag, tree_order_statistics_node_update> all;
    for (int i = 0; i < 100; i += 2) all.insert(i);
    __int128 wide = (__int128)all.order_of_key(12) << 100;
    std::cout << (long long)(wide >> 100) << "\n";
}
