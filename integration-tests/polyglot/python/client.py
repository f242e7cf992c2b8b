"""A Lockkeeper client in Python, with stubs generated from proto/. Usage: see ../README.md."""

import os
import queue
import sys
import threading
import time

import grpc

from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import lock_service_pb2_grpc as rpc

NAME = "python"


class Work:
    """What the lock protects: a number in a file, and a log of the tokens."""

    def __init__(self, counter, log):
        self.counter = counter
        self.log = log

    def do(self, token):
        with open(self.counter, encoding="ascii") as file:
            number = int(file.read())
        time.sleep(0.002)
        with open(self.counter, "w", encoding="ascii") as file:
            file.write(str(number + 1))
        log = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(log, f"{token} {NAME}\n".encode())
        finally:
            os.close(log)


def by_stream(stub, lock, iterations, work):
    """Takes the lock with one Acquire call each time; the call is the lease."""
    for iteration in range(iterations):
        call = stub.Acquire(pb.AcquireRequest(locks=[pb.LockRequest(name=lock)], holder=NAME))
        for response in call:
            event = response.WhichOneof("event")
            if event == "granted":
                granted = response.granted
                token = granted.grants[0].fencing_token
                work.do(token)
                if iteration % 3 == 2:
                    call.cancel()  # hanging up releases, too
                    break
                stub.Release(
                    pb.ReleaseRequest(
                        lease_id=granted.lease_id, request_id=response.request_id, fencing_token=token
                    )
                )
            elif event in ("lost", "not_acquired"):
                raise SystemExit(f"{NAME}: {event}: {response}")


def seconds(duration):
    return duration.seconds + duration.nanos / 1e9


class Session:
    """One Session stream: requests go into a queue that gRPC drains, responses come back as an iterator."""

    def __init__(self, stub):
        self.requests = queue.Queue()
        self.responses = stub.Session(iter(self.requests.get, None))
        self.send(open=pb.OpenSession(holder=NAME))
        self.interval = seconds(self.next("opened").opened.keep_alive_interval)
        self.closed = threading.Event()
        threading.Thread(target=self.keep_alive, daemon=True).start()

    def send(self, **request):
        self.requests.put(pb.SessionRequest(**request))

    def keep_alive(self):
        nonce = 0
        while not self.closed.wait(self.interval):
            nonce += 1
            self.send(keep_alive=pb.SessionKeepAlive(nonce=nonce))

    def next(self, kind):
        """The next response of that kind; others than these are of no interest, or fatal."""
        for response in self.responses:
            got = response.WhichOneof("response")
            if got == "kept_alive":
                self.interval = seconds(response.kept_alive.keep_alive_interval)
            if got == kind:
                return response
            if got in ("refused", "going_away", "lease_ended"):
                raise SystemExit(f"{NAME}: {response}")
        raise SystemExit(f"{NAME}: the stream ended before {kind}")

    def close(self):
        self.closed.set()
        self.send(close=pb.CloseSession())
        self.next("lease_ended")
        self.requests.put(None)


def by_session(stub, lock, iterations, work):
    """Takes the lock again and again under one lease."""
    session = Session(stub)
    for iteration in range(iterations):
        request_id = f"{NAME}-{iteration}"
        session.send(
            acquire=pb.AcquireRequest(locks=[pb.LockRequest(name=lock)], request_id=request_id, holder=NAME)
        )
        while True:
            event = session.next("event").event
            kind = event.WhichOneof("event")
            if event.request_id == request_id and kind == "granted":
                break
            if kind in ("lost", "not_acquired"):
                raise SystemExit(f"{NAME}: {event}")
        token = event.granted.grants[0].fencing_token
        work.do(token)
        session.send(release=pb.ReleaseRequest(request_id=request_id, fencing_token=token))
        while session.next("released").released.request_id != request_id:
            pass
    session.close()


def main():
    target, mode, lock, iterations, counter, log = sys.argv[1:]
    run = {"stream": by_stream, "session": by_session}[mode]
    with grpc.insecure_channel(target) as channel:
        grpc.channel_ready_future(channel).result(timeout=20)
        print("ready", flush=True)
        sys.stdin.readline()
        run(rpc.LockServiceStub(channel), lock, int(iterations), Work(counter, log))


if __name__ == "__main__":
    main()
