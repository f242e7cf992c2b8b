"""A connection to the registers that the locks protect; writes down what it asks and hears."""

import socket


class Registers:
    def __init__(self, port, history):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("r", encoding="ascii")
        self.history = history

    def increment(self, acquisition, lock, token):
        """Reads a number and writes one more; false if the token was found to be stale."""
        before = self.ask(acquisition, "read", lock, token, 0, f"R {lock} {token}")
        if before is None:
            return False
        after = before + 1
        return self.ask(acquisition, "write", lock, token, after, f"W {lock} {token} {after}") is not None

    def ask(self, acquisition, what, lock, token, value, line):
        self.history.write(what, a=acquisition, lock=lock, token=token, value=value)
        self.socket.sendall((line + "\n").encode("ascii"))
        word, number = self.answers.readline().split()
        self.history.write("answer", a=acquisition, ok=word == "ok", value=int(number))
        return int(number) if word == "ok" else None
