"""The naive twin of the reader: straight Python over the whole text, no speed, no limits."""

from collections import namedtuple

Line = namedtuple("Line", "pc mask destinations opcode sources width addresses immediate")

BULK = {"UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED"}


def header_of(text):
    """The header's values as text, and the lines behind it."""
    lines = [line.strip() for line in text.split("\n")]
    end = next(i for i, line in enumerate(lines) if line.startswith("#"))
    pairs = (line[1:].split("=", 1) for line in lines[:end] if line)
    return {key.strip(): value.strip() for key, value in pairs}, lines[end + 1 :]


def parse_line(line, tracer, lineinfo, prefix):
    """One instruction line; addresses are a list, one for each active lane."""
    words = line.split()[prefix + lineinfo :]
    take = iter(words)
    pc, mask = int(next(take), 16), int(next(take), 16)
    destinations = [next(take) for _ in range(int(next(take)))]
    opcode = next(take)
    sources = [next(take) for _ in range(int(next(take)))]
    if tracer >= 6 and "GMMA" in opcode:
        next(take)
    width, lanes = int(next(take)), mask.bit_count()
    addresses, immediate = [], 0
    if tracer >= 6 and opcode.split(".")[0] in BULK:
        first, immediate = _bulk(take)
        addresses, width = [first] * lanes, max(width, 1)
    elif width:
        addresses = _addresses(take, lanes)
    if tracer >= 5:
        value = int(next(take))
        immediate = immediate if width and opcode.split(".")[0] in BULK else value
    return Line(pc, mask, destinations, opcode, sources, width, addresses, immediate)


def _addresses(take, lanes):
    mode = int(next(take))
    if mode == 0:
        return [int(next(take), 16) for _ in range(lanes)]
    base = int(next(take), 16)
    if mode == 1:
        stride = int(next(take))
        return [base + stride * k for k in range(lanes)]
    values = [base]
    for _ in range(lanes - 1):
        values.append(values[-1] + int(next(take)))
    return values[:lanes]


def _bulk(take):
    next(take)
    if int(next(take)):
        next(take)
    size = int(next(take))
    next(take)
    mode = int(next(take))
    first = int(next(take), 16) if mode == 4 else 0
    count = int(next(take))
    rest = [next(take) for _ in range(count if mode == 3 else max(count - 1, 0))]
    return (int(rest[0], 16) if mode == 3 and rest else first), size


def read(text):
    """``{block: {warp: [Line]}}`` in the order of the text; raw lines are grouped."""
    values, body = header_of(text)
    tracer = int(values.get("accelsim tracer version", "0").split(".")[0])
    lineinfo = int(values.get("enable lineinfo", "0"))
    blocks, place, warp = {}, None, None
    raw = not any(line.startswith("#BEGIN_TB") for line in body)
    pairs = {}
    for line in body:
        if line.split()[:2] == ["thread", "block"]:
            place = tuple(int(n) for n in line.split("=")[1].split(","))
            blocks[place] = {}
        elif line.startswith("warp"):
            warp = int(line.split("=")[1])
            blocks[place][warp] = []
        elif not line or line.startswith(("#", "insts", "cluster")):
            continue
        elif raw:
            x, y, z, warp = (int(n) for n in line.split()[:4])
            prefix = 11 if tracer >= 6 and len(line.split()[5 + lineinfo]) != 8 else 4
            parsed = parse_line(line, tracer, lineinfo, prefix)
            if parsed.opcode.startswith("LDGSTS"):
                pairs[x, y, z, warp] = not pairs.get((x, y, z, warp))
                if pairs[x, y, z, warp]:
                    continue
            blocks.setdefault((x, y, z), {}).setdefault(warp, []).append(parsed)
        else:
            blocks[place][warp].append(parse_line(line, tracer, lineinfo, 4 * (tracer < 3)))
    if raw:
        blocks = dict(sorted(blocks.items(), key=lambda item: item[0][::-1]))
    return blocks


def expand(kernel):
    """What the reader serves, in the twin's form: (pc, mask, opcode, addresses) of each line."""
    blocks = {}
    for cta in kernel.ctas():
        code, texts = kernel.code.instructions, kernel.code.texts
        warps = blocks[cta.index] = {}
        for number, warp in enumerate(cta.warps):
            runs = cta.runs[warp["first_run"] :][: warp["runs"]].tolist()
            entries = iter(cta.addresses[warp["first_address"] :][: warp["addresses"]].tolist())
            warps[number] = list(_lines(runs, entries, cta.pool, code, texts))
            assert next(entries, None) is None
            assert warp["warp_instructions"] == len(warps[number])
            lanes = sum(line[1].bit_count() for line in warps[number])
            assert warp["thread_instructions"] == lanes
    return blocks


def _lines(runs, entries, pool, code, texts):
    for static, count, mask in runs:
        for record in code[static : static + count]:
            addresses = []
            if record["width"] and mask:
                base, stride, first = next(entries)
                lanes = range(mask.bit_count())
                if first < 0:
                    addresses = [base + k * stride for k in lanes]
                else:
                    addresses = [int(pool[first + k]) for k in lanes]
            addresses = [a & (2**64 - 1) for a in addresses]
            yield (int(record["pc"]), mask, texts[record["text"]], addresses)


def comparable(blocks):
    """The twin's blocks in the form of ``expand``."""
    return {
        place: {
            warp: [
                (n.pc, n.mask, n.opcode, [a & (2**64 - 1) for a in n.addresses if n.mask])
                for n in lines
            ]
            for warp, lines in warps.items()
        }
        for place, warps in blocks.items()
    }
