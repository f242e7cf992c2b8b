"""Generates src/lockkeeper/v1 from the proto files, when the package is built and before tests: python stubs.py"""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# In a source distribution the files are inside it.
PLACES = (HERE / "proto", HERE / "../../proto/src/main/proto")


def generate() -> None:
    import grpc_tools
    from grpc_tools import protoc

    google = Path(grpc_tools.__file__).parent / "_proto"
    source = next(place for place in PLACES if (place / "lockkeeper/v1").is_dir())
    files = sorted(str(file) for file in (source / "lockkeeper/v1").glob("*.proto"))
    if protoc.main(["protoc", f"-I{source}", f"-I{google}", f"--python_out={HERE}/src", f"--pyi_out={HERE}/src", *files]) != 0:
        raise SystemExit("the stubs cannot be generated")
    (HERE / "src/lockkeeper/v1/__init__.py").write_text('"""The messages of the contract, as protoc generates them."""\n')


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class StubsHook(BuildHookInterface):  # type: ignore[misc, type-arg, unused-ignore]
        """Generates them for a wheel."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if self.target_name == "wheel":
                generate()

except ImportError:  # not a build
    pass

if __name__ == "__main__":
    generate()
