"""PTX lifted onto the lane builder: each opcode is a few lines in the file of its kind."""
