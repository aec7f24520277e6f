// In the namespace of each program: what its functions return, and what it calls by a table.
struct Pair {
    u32 first;
    u64 second;
    i16 third;
};
struct Shape {
    CALLED virtual u32 area(u32 x) const { return x; }
};
struct Square : Shape {
    u32 side;
    CALLED u32 area(u32 x) const override { return side * side + x; }
};
struct Other : Shape {
    u32 a, b;
    CALLED u32 area(u32 x) const override { return (x & 1) ? a ^ x : b + x; }
};
