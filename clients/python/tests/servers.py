"""A real coordinator for tests: the program's jar, with an embedded ZooKeeper."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

JAR = Path(os.environ.get("LOCKKEEPER_JAR", Path(__file__).parents[3] / "cli/target/lockkeeper.jar"))


def missing() -> str:
    """Why no coordinator can be started; empty: one can."""
    if shutil.which("java") is None:
        return "there is no java"
    return "" if JAR.exists() else f"there is no {JAR}: run make build"


class RealServer:
    """A coordinator on a free port, until it is closed."""

    def __init__(self, *flags: str) -> None:
        self._data = tempfile.TemporaryDirectory(prefix="lockkeeper-test-")
        free = ["--listen=127.0.0.1:0", "--http=127.0.0.1:0", "--zookeeper-port=0", f"--data-dir={self._data.name}"]
        command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", str(JAR), "dev", *free, *flags]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            address = re.search(r"localhost:(\d+) lockkeeper\.v1", line)
            if address:
                self.port = int(address[1])
                break
        else:
            raise RuntimeError(f"no coordinator: {said}")
        self.address = f"127.0.0.1:{self.port}"

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._data.cleanup()
