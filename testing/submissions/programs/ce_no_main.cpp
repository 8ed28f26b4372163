int solve() { return 6; }
