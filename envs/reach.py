"""Which packages a script can import, read from the source: through every function of the library that it can reach.

What runs when a module is imported counts always; a function, class or value counts when its name is used by
something that counts. So an import inside a function matters exactly where that function can be called. Modules that a
registry loads by name count whole where they run in the environment in question.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

WHOLE = "*"
Functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass
class Module:
    """One of our files: its top-level definitions, its import statements, and what runs when it is imported."""

    path: Path
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    running: list[ast.AST] = field(default_factory=list)


@functools.cache
def parse(path: Path) -> Module:
    module = Module(path)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            module.definitions.setdefault(node.name, []).append(node)
            module.running += [*node.decorator_list, *getattr(node, "bases", [])]
            if isinstance(node, ast.ClassDef):
                module.running += [s for s in node.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
            else:
                module.running += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d]
        else:
            module.running.append(node)
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Name):
                    module.definitions.setdefault(target.id, []).append(node)
    return module


def environment_of(path: Path) -> str | None:
    """The ENVIRONMENT that a registered module declares, None where it declares none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "ENVIRONMENT" for t in node.targets):
            return ast.literal_eval(node.value)
    return None


class Reach:
    """What can be imported below `scripts` when `environment` runs a script; see `third_party`."""

    def __init__(self, scripts: Path, environment: str):
        self.scripts, self.environment = scripts, environment
        self.found: dict[str, Path] = {}
        self._script: Path | None = None
        self._seen: set[tuple[Path, str]] = set()
        self._waiting: list[tuple[Path, str]] = []

    def own_file(self, module: str) -> Path | None:
        """The file of one of our own modules, None for anybody else's."""
        base = self.scripts.joinpath(*module.split("."))
        return next((f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()), None)

    def third_party(self, script: Path) -> dict[str, Path]:
        """Import name -> a file that imports it."""
        self._script = script
        self._need(script, WHOLE)
        while self._waiting:
            self._visit(*self._waiting.pop())
        return self.found

    def _need(self, path: Path | None, name: str) -> None:
        if path is None:
            return
        for wanted in ("", name):
            if (path, wanted) not in self._seen:
                self._seen.add((path, wanted))
                self._waiting.append((path, wanted))

    def _visit(self, path: Path, name: str) -> None:
        module = parse(path)
        if name == "":
            nodes = module.running
        elif name == WHOLE:
            nodes = [node for nodes in module.definitions.values() for node in nodes]
        else:
            nodes = module.definitions.get(name, [])
            if not nodes:
                self._pass_on(path, module, name)
        # A registry's modules are loaded by name, by one of its functions.
        if path.name == "__init__.py" and name and "module_names" in path.read_text(encoding="utf-8"):
            for registered in sorted(path.parent.glob("[a-z]*.py")):
                here = environment_of(registered) in (None, self.environment)
                self._need(registered, WHOLE if here else "")
        self._follow(path, module, nodes)

    def _pass_on(self, path: Path, module: Module, name: str) -> None:
        """A name that a module has by importing it, as packages do in their __init__."""
        for bound, (source, attribute) in self._bindings(path, module.running).items():
            if bound == name:
                self._use(source, attribute, WHOLE)

    def _follow(self, path: Path, module: Module, nodes: list[ast.AST]) -> None:
        bindings = self._bindings(path, module.running)
        inner = self._bindings(path, nodes)
        for source, attribute in inner.values():
            self._arrive(path, source, attribute)
        bindings = {**bindings, **inner}
        if nodes is module.running and path != self._script:
            # A function that an imported module puts into a table, or hands to a call, is taken not to run then.
            nodes = [call.func for node in nodes for call in ast.walk(node) if isinstance(call, ast.Call)]
        for owner, attribute in _references(nodes):
            if owner in module.definitions:
                self._need(path, owner)
            if owner in bindings:
                self._use(*bindings[owner], attribute or WHOLE)

    def _bindings(self, path: Path, nodes: list[ast.AST]) -> dict[str, tuple[str, str]]:
        """Bound name -> (module, attribute) of the import statements among the nodes."""
        package = path.relative_to(self.scripts).parent.parts
        bound: dict[str, tuple[str, str]] = {}
        for node in _statements(nodes):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound[alias.asname or alias.name] = (alias.name, "")
                continue
            parts = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*parts, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                bound[alias.asname or alias.name] = (whole, "") if self.own_file(whole) else (base, alias.name)
        return bound

    def _arrive(self, path: Path, source: str, attribute: str) -> None:
        """An import statement runs: the module and the packages above it are imported."""
        root = source.split(".")[0]
        if self.own_file(root) is None:
            if root not in sys.stdlib_module_names:
                self.found.setdefault(root, path)
            return
        parts = source.split(".")
        for depth in range(1, len(parts) + 1):
            self._need(self.own_file(".".join(parts[:depth])), "")

    def _use(self, source: str, attribute: str, below: str) -> None:
        """A bound name is used: all of an object, or one attribute of a module."""
        self._need(self.own_file(source), attribute or below)


def _statements(nodes: list[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in nodes:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        for child in ast.walk(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child


def _references(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """(name, attribute) pairs that the nodes use; the attribute is "" where the name is used by itself."""
    for node in nodes:
        inside = set()
        for child in ast.walk(node):
            if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
                inside.add(id(child.value))
                yield child.value.id, child.attr
            elif isinstance(child, ast.Name) and id(child) not in inside:
                yield child.id, ""
