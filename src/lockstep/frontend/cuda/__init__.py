"""CUDA programs: the calls that they make, the library that intercepts them, the call record."""
