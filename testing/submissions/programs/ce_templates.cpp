template <int N> struct Tower {
    static const int height = Tower<N + 1>::height + 1;
};

int main() { return Tower<0>::height; }
