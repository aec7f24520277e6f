"""What is kept on disk between runs: machine code of the model, translations, built libraries.

Read in this order: ``trust.py`` says whose folders are used, ``places.py`` which these are,
``entry.py`` what a file looks like, ``content.py`` gets and puts, ``folder.py`` does so for files
that other programs load, ``claims.py`` lets one process make what several want, ``cleaning.py``
forgets, ``survey.py`` verifies all that is there. ``sources.py`` tells the package's files apart by
what they hold, and ``tables.py`` keeps what is made of those that hold data.
Nothing that is read is believed before its checksum is compared, and a damaged entry is made again.
"""

from lockstep.store.claims import claimed
from lockstep.store.content import get, put
from lockstep.store.folder import folder, has_folder
from lockstep.store.places import KINDS, VARIABLE, Place, writable
from lockstep.store.survey import clear, survey

__all__ = [
    "KINDS",
    "VARIABLE",
    "Place",
    "claimed",
    "clear",
    "folder",
    "get",
    "has_folder",
    "put",
    "survey",
    "writable",
]
