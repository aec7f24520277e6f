"""``lockstep systems``: the systems of several GPUs, or the parameters of one."""

import click


@click.command(name="systems")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the systems of several GPUs, or show the parameters of one with their sources."""
    from lockstep.gpus import systems

    if name is None:
        for known in systems.names():
            click.echo(f"{known}: {systems.spec(known).description}")
        return
    found, sources = systems.spec(name), systems.sources(name)
    click.echo(f"{found.name}: {found.description}")
    for parameter, source in sources.items():
        *group, last = parameter.split(".")
        value = getattr(found.fabric if group else found, last)
        shown = ", ".join(value) if isinstance(value, tuple) else value
        click.echo(f"{parameter} = {shown}\n    {source}")
