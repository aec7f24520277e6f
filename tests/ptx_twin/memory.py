"""Byte-addressed memory: allocations that know their limits."""


class Fault(Exception):
    """The program did what a GPU answers with an error."""


class Memory:
    """Allocations at rising addresses from ``base``; every access must lie within one."""

    def __init__(self, base=0, limit=None):
        self.blocks = []
        self.base = self.next = base
        self.limit = limit

    def allocate(self, content, alignment=256):
        """The address of new bytes: a size, or bytes to begin with."""
        content = bytearray(content)
        address = -(-self.next // alignment) * alignment
        self.blocks.append((address, content))
        self.next = address + len(content)
        return address

    def release(self, mark):
        """Forget everything from a former ``next`` on: a stack."""
        self.blocks = [(start, content) for start, content in self.blocks if start < mark]
        self.next = mark

    def find(self, address, size):
        for start, content in reversed(self.blocks):
            if start <= address and address + size <= start + len(content):
                return content, address - start
        raise Fault(f"no allocation holds {size} bytes at {address:#x}")

    def read(self, address, size):
        """A little-endian number."""
        if address % size:
            raise Fault(f"misaligned access of {size} bytes at {address:#x}")
        content, offset = self.find(address, size)
        return int.from_bytes(content[offset : offset + size], "little")

    def write(self, address, size, value):
        if address % size:
            raise Fault(f"misaligned access of {size} bytes at {address:#x}")
        content, offset = self.find(address, size)
        content[offset : offset + size] = value.to_bytes(size, "little")

    def bytes_at(self, address, size):
        content, offset = self.find(address, size)
        return bytes(content[offset : offset + size])
