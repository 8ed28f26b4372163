#include <no/such/header.h>
int main() {}
