"""Clients with one planted mistake each, and the scenario that must find it.

Usage: mistakes.py --list, or mistakes.py MISTAKE to speak the line protocol.
"""

import asyncio
import sys

from driver import Driver
from lease import Lease, now, pb, to_duration


class CountsFromTheReceipt(Lease):
    found_by = "Deadline.validForOfOpenedCountsFromTheSending"

    def extend(self, sent, valid_for, interval):
        super().extend(now(), valid_for, interval)


class TakesAnyAnswerForTheLatestKeepAlive(Lease):
    found_by = "Deadline.answerCountsForTheKeepAliveOfItsNonce"

    def on_kept_alive(self, kept):
        self.extend(self.last_sent, kept.valid_for, kept.keep_alive_interval)


class BelievesAFlag(Lease):
    found_by = "Deadline.clientThatWasPausedLooksAtItsDeadlineFirst"

    def holds(self, request_id):
        return request_id in self.acquisitions and self.acquisitions[request_id].state == "held"

    def end(self, reason):  # late, as a timer on another thread would be
        self.loop.call_later(1, super().end, reason)


class GrantExtendsTheLease(Lease):
    found_by = "Deadline.grantExtendsNothing"

    def on_granted(self, acquisition, granted):
        self.extend(now(), granted.valid_for, to_duration(self.interval))
        super().on_granted(acquisition, granted)


class RenewsEveryThirdOfTheTtl(Lease):
    found_by = "KeepAlive.validForFarBelowTheTtlIsRenewedInTime"

    def extend(self, sent, valid_for, interval):
        super().extend(sent, valid_for, to_duration(self.ttl / 3))


class NumbersWithoutEpochs(Lease):
    found_by = "Epoch.lossWithALowNumberOfAHigherEpochIsTaken"

    def is_new(self, acquisition, event):
        new, acquisition.last = event.sequence > acquisition.last[-1], (0, max(event.sequence, acquisition.last[-1]))
        return new


class TakesRepetitionsForNews(Lease):
    found_by = "Epoch.eventThatIsNotAboveTheLastIsIgnored"

    def is_new(self, acquisition, event):
        return event.sequence > 0


class ListensToWhoeverServedBefore(Lease):
    found_by = "Epoch.endOfTheLeaseInALowerEpochIsVoid"

    def is_stale(self, message):
        super().is_stale(message)
        return False


class ResumesWhenSuperseded(Lease):
    found_by = "GoingAway.supersededIsNeverResumed"

    def going_away(self, message):
        message.reason = pb.GOING_AWAY_REASON_DRAINING
        return super().going_away(message)


class ForgetsItsTokens(Lease):
    found_by = "Resume.tokensOfAHoldAreRepeatedInTheOrderOfItsLocks"

    def send_acquire(self, acquisition):
        tokens, acquisition.tokens = acquisition.tokens, []
        super().send_acquire(acquisition)
        acquisition.tokens = tokens


class ForgetsReleasesInDoubt(Lease):
    found_by = "Release.releaseInDoubtIsRepeatedAfterTheResume"

    def repeat_releases(self):
        pass


class ReleasesBeforeItRepeats(Lease):
    found_by = "Resume.holdsAreRepeatedBeforeOneIsReleased"

    def repeat_requests(self):
        super().repeat_releases()
        super().repeat_requests()


class AsksAtOnceAgain(Lease):
    found_by = "Backoff.attemptsToOpenGrowRarer"

    def backoff(self):
        return 0


class TakesAnyErrorForAPassingOne(Lease):
    found_by = "Resume.unknownLeaseIsTheLossOfEverything"

    def on_error(self, code):
        return 0


class TakesAnyErrorForTheEnd(Lease):
    found_by = "Resume.brokenStreamCostsNoLock"

    def on_error(self, code):
        self.end(code.name)
        return 0


MISTAKES = {mistake.__name__: mistake for mistake in Lease.__subclasses__()}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name, mistake in MISTAKES.items():
            print(name, mistake.found_by)
    else:
        asyncio.run(Driver(MISTAKES[sys.argv[1]]).run())
