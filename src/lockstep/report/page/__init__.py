"""A result as one page of HTML that opens without a network, by a browser alone.

``document.py`` makes what the page shows of a result, as plain values; ``heat.py`` its heat maps;
``write.py`` puts it, compressed, into one file with the script and the style in ``assets/``.
"""
