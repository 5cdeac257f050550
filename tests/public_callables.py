"""All functions and methods of the package that a user may call."""

import importlib
import inspect
import pkgutil

import amgd


def public_callables():
    """Name and function: all functions and methods of the package that a user may call."""
    for module in pkgutil.walk_packages(amgd.__path__, "amgd."):
        if any(part.startswith("_") for part in module.name.split(".")):
            continue
        members = vars(importlib.import_module(module.name))
        for name in members.get("__all__", ()):
            member = members[name]
            if getattr(member, "__module__", None) != module.name:
                continue  # told where it is defined
            if inspect.isfunction(member):
                yield f"{module.name}.{name}", member
            for part, method in vars(member).items() if inspect.isclass(member) else ():
                function = getattr(method, "__func__", method)
                if inspect.isfunction(function) and (part == "__init__" or part[0] != "_"):
                    yield f"{module.name}.{name}.{part}", function
