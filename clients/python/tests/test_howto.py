"""The examples of the README and of the how-to pages, as they stand there, in processes of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lockkeeper.testing import FakeServer

ROOT = Path(__file__).parents[3]
SAID = {
    "README.md": "held, with the token ",
    "docs/how-to/cron-job-once.md": "do the tick if it is not done, with the token ",
    "docs/how-to/leader-election.md": "one step, with the token ",
    "docs/how-to/migrations-once.md": "migrate if it is not done, with the token ",
    "docs/how-to/permits.md": "export with two of four permits; valid: True",
}


@pytest.mark.parametrize("page", SAID)
def test_example_runs(page: str, fake: FakeServer) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(blocks) == 1
    code = blocks[0].replace("localhost:7420", fake.address)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(SAID[page])
