"""Encryption, certificates and tokens, with a coordinator that asks for them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import servers

from lockkeeper import AsyncClient, RequestRefusedError, ServerUnavailableError

Run = Callable[[Awaitable[Any]], Any]
TOKEN = "a-token-that-only-the-tests-know-0123456789"


def certificate(directory: Path, name: str, ca: str, alternative: str) -> None:
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)

    openssl(
        *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}"),
        *("-addext", f"subjectAltName={alternative}", "-keyout", f"{name}.key", "-out", f"{name}.csr"),
    )
    openssl(
        *("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-copy_extensions", "copy"),
        *("-days", "2", "-out", f"{name}.pem"),
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    directory = tmp_path_factory.mktemp("certificates")
    for ca in ("servers-ca", "clients-ca"):
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
                *("-subj", f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.pem"),
            ],
            cwd=directory,
            check=True,
            capture_output=True,
        )
    certificate(directory, "server", "servers-ca", "DNS:localhost,IP:127.0.0.1")
    certificate(directory, "client", "clients-ca", "URI:spiffe://test/client")
    tokens = directory / "tokens.yaml"
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    tokens.write_text(f"tokens:\n  - {{name: tester, sha256: {digest}}}\n")
    tokens.chmod(0o600)
    return directory


@pytest.fixture(scope="module")
def secured(files: Path) -> Iterator[servers.RealServer]:
    why = servers.missing()
    if why:
        pytest.skip(f"no real coordinator: {why}")
    server = servers.RealServer(
        f"--tls-cert={files}/server.pem",
        f"--tls-key={files}/server.key",
        f"--tls-client-ca={files}/clients-ca.pem",
        f"--tokens={files}/tokens.yaml",
    )
    yield server
    server.close()


def test_client_is_known_by_its_certificate(secured: servers.RealServer, files: Path, run: Run) -> None:
    async def body() -> None:
        options: Any = {"ca": files / "servers-ca.pem", "certificate": files / "client.pem", "key": files / "client.key"}
        async with AsyncClient(f"localhost:{secured.port}", **options) as client, client.lock("secured/a") as lock:
            assert (await client.get_lock("secured/a")).holders[0].fencing_token == lock.fencing_token

    run(body())


def test_client_is_known_by_its_token_which_is_asked_for_each_call(secured: servers.RealServer, files: Path, run: Run) -> None:
    async def body() -> None:
        asked = 0

        async def token() -> str:
            nonlocal asked
            asked += 1
            return TOKEN

        client = AsyncClient(f"localhost:{secured.port}", ca=files / "servers-ca.pem", token=token)
        async with client, client.lock("secured/b"):
            await client.get_lock("secured/b")
        assert asked == 2

    run(body())


def test_stranger_is_refused_for_good(secured: servers.RealServer, files: Path, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(f"localhost:{secured.port}", ca=files / "servers-ca.pem", token=lambda: "x" * 40) as client:
            with pytest.raises(RequestRefusedError) as caught:
                await client.acquire("secured/c")
            assert caught.value.reason == "UNAUTHENTICATED"

    run(body())


def test_server_of_another_authority_is_not_trusted(secured: servers.RealServer, files: Path, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(f"localhost:{secured.port}", ca=files / "clients-ca.pem", request_timeout=1, token=lambda: TOKEN) as client:
            with pytest.raises(ServerUnavailableError):
                await client.acquire("secured/d")

    run(body())


def test_token_is_not_sent_in_plaintext_to_another_machine(run: Run) -> None:
    async def body() -> None:
        async with AsyncClient("192.0.2.1:7420", token=lambda: TOKEN) as client:
            with pytest.raises(RequestRefusedError, match="plaintext"):
                await client.acquire("a")
            with pytest.raises(RequestRefusedError, match="plaintext"):
                await client.get_lock("a")

    run(body())


def test_token_that_cannot_be_had_now_is_asked_for_again(secured: servers.RealServer, files: Path, run: Run) -> None:
    async def body() -> None:
        tokens: Iterator[str | Exception] = iter([RuntimeError("not yet"), TOKEN])

        def token() -> str:
            value = next(tokens)
            if isinstance(value, Exception):
                raise value
            return value

        client = AsyncClient(f"localhost:{secured.port}", ca=files / "servers-ca.pem", token=token)
        async with client, client.lock("secured/e"):
            pass

    run(body())
