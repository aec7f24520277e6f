"""A GPU specification in the making, filled from options."""

from lockstep.errors import InputError, SpecError
from lockstep.frontend.accelsim.config_options import Option, Options
from lockstep.gpus import fields
from lockstep.gpus.spec import GPU

_SOURCE = "for configurations of Accel-Sim"  # of what no option says


class Draft:
    """The parameters found so far, each with the option that gave it, and the warnings."""

    def __init__(self, options: Options, base: GPU):
        """Begin with all parameters of ``base``."""
        self.options, self.base = options, base
        self.values = fields.flatten(base)
        self.warnings: list[str] = []
        self.sources = dict.fromkeys(self.values, f"as {base.name}")  # where each value is from

    def set(self, path: str, value: object, option: Option | None = None) -> None:
        """Give a parameter its value; an error names the option that it is from."""
        try:
            self.values[path] = fields.accept(path, value, self.values)
            self.sources[path] = _SOURCE if option is None else option.place
        except SpecError as error:
            if option is None:
                raise
            where = f"line {option.line}"
            raise InputError(option.path, where, f"-{option.name}: {error}") from None

    def choose(self, path: str, table: dict, key: object, option: Option) -> None:
        """Give a parameter what ``table`` has for ``key``, or warn and leave it."""
        if key in table:
            self.set(path, table[key], option)
        else:
            kept = self.values[path]
            self.warn(
                option, f"{option.shown}: {key!r} has no counterpart, {path} = {kept} is kept"
            )

    def warn(self, option: Option, message: str) -> None:
        """Note that an option does not do here what it does there."""
        place = f"{option.path}, line {option.line}"
        self.warnings.append(f"{place}: -{option.name}: {message}")
