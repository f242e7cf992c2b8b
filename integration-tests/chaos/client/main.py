"""A process of several clients. Works until a line comes on its standard input, then finishes what it has begun; dies
when its input ends. Arguments: process name, servers, port of the registers, history file, clients, seed."""

import os
import random
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from typing import Optional

from google.protobuf.duration_pb2 import Duration
from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import types_pb2 as types

from history import History
from lease import Acquisition, Lease
from registers import Registers


@dataclass
class Work:
    """What a client does next. The Java client does the same, but never withdraws."""

    lock: str
    mode: str
    hold: float
    step: float
    rest: float
    wait_limit: Optional[float] = None
    withdraw_after: Optional[float] = None

    @staticmethod
    def draw(index, chance):
        if index % 3 == 0:
            return Work(f"chaos/long/{chance.randrange(16)}", "exclusive", chance.uniform(1, 12), 0.4, chance.random())
        if index % 3 == 1:
            work = Work(
                f"chaos/hot/{chance.randrange(4)}",
                "exclusive",
                chance.uniform(0.001, 0.06),
                0.02,
                chance.uniform(0.02, 0.25),
            )
            draw = chance.random()
            if draw < 0.2:
                work.wait_limit = chance.uniform(0.001, 1.5)
            elif draw < 0.3:
                work.withdraw_after = chance.uniform(0, 0.3)
            return work
        mode = chance.choice(["write", "read", "read"])
        return Work(
            f"chaos/shared/{chance.randrange(3)}", mode, chance.uniform(0.005, 0.8), 0.05, chance.uniform(0.05, 0.5)
        )

    def request(self, name):
        mode = {
            "exclusive": types.LOCK_MODE_EXCLUSIVE,
            "read": types.LOCK_MODE_READ,
            "write": types.LOCK_MODE_WRITE,
        }[self.mode]
        request = pb.AcquireRequest(
            request_id=name, locks=[pb.LockRequest(name=self.lock, mode=mode)], deadlock_check=pb.DEADLOCK_CHECK_OFF
        )
        if self.wait_limit is not None:
            request.wait_timeout.CopyFrom(Duration(nanos=int(self.wait_limit * 1e9) % 10**9, seconds=int(self.wait_limit)))
        return request


class Hand:
    """One client with one lease: asks, works, releases, until it is told to stop."""

    def __init__(self, name, index, servers, port, history, chance, stop):
        self.name = name
        self.index = index
        self.history = history
        self.chance = chance
        self.stop = stop
        self.lease = Lease(name, servers, history)
        self.registers = Registers(port, history)

    def run(self):
        count = 0
        while not self.stop.wait(0.001):
            count += 1
            work = Work.draw(self.index, self.chance)
            self.once(f"{self.name}/{count}", work)
            self.stop.wait(work.rest)
        self.lease.close()

    def once(self, name, work):
        self.history.write("ask", a=name, lock=work.lock, mode=work.mode)
        acquisition = Acquisition(name, work.request(name))
        self.lease.acquire(acquisition)
        if self.lease.await_state(acquisition, ("held", "over"), work.withdraw_after) and acquisition.state == "held":
            self.use(acquisition, work)
        self.lease.release(acquisition)
        self.lease.await_state(acquisition, ("over",))

    def use(self, acquisition, work):
        end = time.monotonic() + work.hold
        while self.lease.is_valid(acquisition) and time.monotonic() < end:
            # Not checked again before the write: that is what the token is for.
            if work.mode != "read":
                if not self.registers.increment(acquisition.name, work.lock, acquisition.tokens[0]):
                    return
            if self.stop.wait(work.step):
                return


def await_stop(stop):
    for line in sys.stdin:
        print("told:", line.strip(), flush=True)
        stop.set()
    os._exit(3)


def die(broken):
    """What nobody caught ends the process, so that the run fails."""
    traceback.print_exception(broken.exc_type, broken.exc_value, broken.exc_traceback)
    sys.stderr.flush()
    os._exit(4)


def main():
    threading.excepthook = die
    process, servers, port, file, count, seed = sys.argv[1:]
    history = History(file)
    history.write("begin", process=process)
    stop = threading.Event()
    threading.Thread(target=await_stop, args=(stop,), daemon=True).start()
    chance = random.Random(int(seed))
    threads = []
    for index in range(int(count)):
        own = random.Random(chance.random())
        hand = Hand(f"{process}/{index}", index, servers.split(","), int(port), history, own, stop)
        threads.append(threading.Thread(target=hand.run))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history.write("end", process=process)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
