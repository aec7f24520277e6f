"""Labels, found before parsing: a branch may go to one that only follows."""

from lockstep.isa.ptx.lexer import NUMBER, STRING, WORD, Cursor

_MARKS = frozenset("{}:")
_ENDS = frozenset("{};:")  # .loc, .file and .section end without a semicolon


def find_labels(cursor: Cursor) -> dict[int, list[int]]:
    """The tokens of the labels of each scope, by the token of the scope's opening brace."""
    kinds, texts = cursor.kinds, cursor.texts
    scopes = [-1]
    labels: dict[int, list[int]] = {}
    for index in [i for i, text in enumerate(texts) if text in _MARKS]:
        text = texts[index]
        if text == "{":
            scopes.append(index)
        elif text == "}":
            del scopes[max(1, len(scopes) - 1) :]  # the module's stays
        elif index > 1 and kinds[index - 1] == WORD and _may_precede(cursor, index - 2):
            labels.setdefault(scopes[-1], []).append(index - 1)
    return labels


def _may_precede(cursor: Cursor, index: int) -> bool:
    """Whether token ``index`` can end a statement, unlike the ``?`` of a conditional expression."""
    return cursor.texts[index] in _ENDS or cursor.kinds[index] in (NUMBER, STRING, WORD)
