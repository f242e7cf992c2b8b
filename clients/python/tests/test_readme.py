"""The README's examples, as they stand there, in processes of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import servers

from lockkeeper.testing import FakeServer

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def said_by(block: str, address: str) -> str:
    code = block.replace("localhost:7420", address)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_start_is_as_it_says(real: servers.RealServer) -> None:
    for block in BLOCKS[:2]:
        assert said_by(block, real.address).startswith("held, with the token ")


def test_start_works_with_the_server_in_memory(fake: FakeServer) -> None:
    for block in BLOCKS[:2]:
        assert said_by(block, fake.address).startswith("held, with the token ")


def test_kept_lock_has_one_token(fake: FakeServer) -> None:
    said = said_by(BLOCKS[2], fake.address).splitlines()
    assert [line.split(" with ")[0] for line in said] == ["step 0", "step 1", "step 2"]
    assert len({line.split()[-1] for line in said}) == 1


def test_examples_of_tests_notice_the_loss() -> None:
    for block in BLOCKS[3:5]:
        assert said_by(block, "") == "noticed: FORCED\n"


def test_example_of_an_observer_runs() -> None:
    assert len(BLOCKS) == 6
    use = """
class Any:
    def __getattr__(self, name): return lambda *_, **__: self
with __import__("lockkeeper.testing").testing.FakeServer() as server:
    with Client(server.address, observer=Measured(Any(), Any())) as client, client.lock("a"):
        print("observed")
"""
    assert said_by(BLOCKS[5] + use, "") == "observed\n"
