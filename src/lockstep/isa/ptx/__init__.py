"""PTX: NVIDIA's virtual instruction set, from text to a checked syntax tree."""
