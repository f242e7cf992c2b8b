"""Clients with one planted mistake each, and the scenario that must find it.

Usage: mistakes.py --list, or mistakes.py MISTAKE to speak the line protocol.
"""

import asyncio
import random
import sys

import grpc

from driver import Driver
from lease import NEVER, Lease, now, to_duration
from lockkeeper.v1 import acquisition_pb2, session_pb2


class CountsFromTheReceipt(Lease):
    found_by = "Deadline.validForOfOpenedCountsFromTheSending"

    def extend(self, sent, valid_for, interval):
        super().extend(now(), valid_for, interval)


class CountsAResumeFromTheReceipt(Lease):
    found_by = "Deadline.validForOfAResumeCountsFromTheSending"

    def on_opened(self, opened):
        if self.lease_id:
            self.last_sent = now()
        super().on_opened(opened)


class RevivesWhatIsOver(Lease):
    found_by = "Deadline.openedThatComesAfterTheDeadlineRevivesNothing"

    def hear(self, response):
        if response is not grpc.aio.EOF and response.HasField("opened"):
            self.deadline = NEVER
        super().hear(response)

    def end(self, reason):
        if reason != "EXPIRED":  # a server will say whether it is
            super().end(reason)


class TakesAnyAnswerForTheLatestKeepAlive(Lease):
    found_by = "Deadline.answerCountsForTheKeepAliveOfItsNonce"

    def on_kept_alive(self, kept):
        self.extend(self.last_sent, kept.valid_for, kept.keep_alive_interval)


class BelievesAFlag(Lease):
    found_by = "Deadline.clientThatWasPausedLooksAtItsDeadlineFirst"

    def holds(self, request_id):
        return request_id in self.acquisitions and self.acquisitions[request_id].state == "held"

    def end(self, reason):
        # The loop of asyncio runs timers that are due before it reads a line, so that here the flag would be cleared in
        # time. A timer on another thread, or one behind a callback that blocks, is late: the delay stands for that.
        self.loop.call_later(1, super().end, reason)


class GrantExtendsTheLease(Lease):
    found_by = "Deadline.grantExtendsNothing"

    def on_granted(self, acquisition, granted):
        self.extend(now(), granted.valid_for, to_duration(self.interval))
        super().on_granted(acquisition, granted)


class HearsNoJeopardy(Lease):
    found_by = "Jeopardy.jeopardyEndsTheHoldWhenItsTimeIsOver"

    def on_event(self, event):
        if event.WhichOneof("event") != "jeopardy":
            super().on_event(event)


class HearsNoSafe(Lease):
    found_by = "Jeopardy.safeLiftsTheJeopardy"

    def on_event(self, event):
        if event.WhichOneof("event") != "safe":
            super().on_event(event)


class TakesARepeatedGrantForSafe(Lease):
    found_by = "Jeopardy.repeatedGrantLiftsNoJeopardy"

    def on_event(self, event):
        if event.WhichOneof("event") == "granted" and event.request_id in self.acquisitions:
            self.acquisitions[event.request_id].jeopardy_until = NEVER
        super().on_event(event)


class LongestJeopardyCounts(Lease):
    found_by = "Jeopardy.laterJeopardyThatIsShorterCounts"

    def on_event(self, event):
        acquisition = self.acquisitions.get(event.request_id)
        before = acquisition.jeopardy_until if acquisition else NEVER
        super().on_event(event)
        if before < NEVER and event.WhichOneof("event") == "jeopardy":
            acquisition.jeopardy_until = max(before, acquisition.jeopardy_until)


class RenewsEveryThirdOfTheTtl(Lease):
    found_by = "KeepAlive.validForFarBelowTheTtlIsRenewedInTime"

    def extend(self, sent, valid_for, interval):
        super().extend(sent, valid_for, to_duration(self.ttl / 3))


class RenewsAtAFixedCadence(Lease):
    found_by = "KeepAlive.keepAlivesComeNoMoreOftenThanTheServerAsks"

    def extend(self, sent, valid_for, interval):
        super().extend(sent, valid_for, to_duration(1.5))


class RenewsWhenHalfOfItIsOver(Lease):
    found_by = "KeepAlive.twoLostAnswersCostNoLock"

    def extend(self, sent, valid_for, interval):
        super().extend(sent, valid_for, to_duration((valid_for.seconds + valid_for.nanos / 1e9) / 2))


class ForgetsARefusedKeepAlive(Lease):
    found_by = "KeepAlive.refusedKeepAliveIsSentAgainAfterTheDelay"

    def on_refused(self, refused):
        if not refused.HasField("keep_alive"):
            super().on_refused(refused)


class LeavesOnlyWhenAllIsSilent(Lease):
    found_by = "Resume.streamThatOnlyAnswersNoKeepAliveIsLeftInTime"

    def patience(self):
        return 2 * self.interval


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


class IgnoresTheLossOfWhatItDoesNotHold(Lease):
    found_by = "Epoch.grantThatComesAfterItsLossIsNoGrant"

    def on_event(self, event):
        acquisition = self.acquisitions.get(event.request_id)
        if event.WhichOneof("event") != "lost" or acquisition and acquisition.tokens:
            super().on_event(event)


class TakesABatchAsAWhole(Lease):
    found_by = "Epoch.responseOfALowerEpochInABatchIsVoid"

    def on_batch(self, batch):
        for response in batch.responses:
            response.epoch = self.epoch
        super().on_batch(batch)


class ResumesWhenSuperseded(Lease):
    found_by = "GoingAway.supersededIsNeverResumed"

    def on_going_away(self, message):
        message.reason = session_pb2.GOING_AWAY_REASON_DRAINING
        super().on_going_away(message)


class AsksTheServerThatLeavesOnceMore(Lease):
    found_by = "GoingAway.drainingIsResumedAtAnotherAfterTheDelay"

    async def stream(self, server):
        await super().stream(server)
        return await super().stream(server)


class ForgetsItsTokens(Lease):
    found_by = "Resume.tokensOfAHoldAreRepeatedInTheOrderOfItsLocks"

    def ask(self, acquisition):
        tokens, acquisition.tokens = acquisition.tokens, []
        super().ask(acquisition)
        acquisition.tokens = tokens


class KeepsTokensAsDoubles(Lease):
    found_by = "Resume.tokensBeyondADoubleAreRepeatedBitByBit"

    def ask(self, acquisition):
        tokens, acquisition.tokens = acquisition.tokens, [int(float(token)) for token in acquisition.tokens]
        super().ask(acquisition)
        acquisition.tokens = tokens


class TakesAnyGrantForItsHold(Lease):
    found_by = "Resume.grantWithOtherTokensIsNotTheHold"

    def on_granted(self, acquisition, granted):
        if acquisition.state == "waiting":
            super().on_granted(acquisition, granted)


class LetsTheServerChooseTheSecret(Lease):
    found_by = "Resume.openWhoseAnswerWasLostIsRepeated"

    def opening(self):
        if not self.lease_id:
            self.secret = ""
        return super().opening()

    def on_opened(self, opened):
        self.secret = self.secret or opened.lease_secret
        super().on_opened(opened)


class UsesOneSecretForEver(Lease):
    found_by = "Resume.secretOfALeaseThatHasEndedIsNotUsedAgain"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.secret = "one-secret-for-all-leases-of-all-time"


class RenewsOnTheStreamThatItLeft(Lease):
    found_by = "Resume.nothingIsSentOnTheStreamThatWasLeft"
    left = ()

    def on_going_away(self, message):  # both streams stay open, and get all that is sent
        self.left = [self.outbox]
        self.loop.create_task(self.stream(self.servers[-1]))

    def send(self, **request):
        super().send(**request)
        for outbox in self.left:
            outbox.put_nowait(session_pb2.SessionRequest(**request))


class ForgetsReleasesInDoubt(Lease):
    found_by = "Release.releaseInDoubtIsRepeatedAfterTheResume"

    def repeat(self):
        for acquisition in self.acquisitions.values():
            if acquisition.state != "releasing":
                self.ask(acquisition)


class ReleasesBeforeItRepeats(Lease):
    found_by = "Resume.holdsAreRepeatedBeforeOneIsReleased"

    def repeat(self):
        for acquisition in sorted(self.acquisitions.values(), key=lambda a: a.state != "releasing"):
            self.ask(acquisition)


class KeepsWhatCrossedTheWithdrawal(Lease):
    found_by = "Release.withdrawalInDoubtIsRepeatedAfterTheResume"

    def on_granted(self, acquisition, granted):
        if acquisition.state == "releasing" and not acquisition.tokens:
            acquisition.state = "waiting"
        super().on_granted(acquisition, granted)


class TellsTwoEndings(Lease):
    found_by = "Release.lossThatCrossesTheReleaseEndsIt"

    def on_event(self, event):
        if event.WhichOneof("event") == "lost":
            self.tell("lost", event.request_id)
        else:
            super().on_event(event)


class AsksAtOnceAgain(Lease):
    found_by = "Backoff.attemptsToOpenGrowRarer"

    def backoff(self):
        return 0


class BacksOffConstantly(Lease):
    found_by = "Backoff.attemptsToResumeGrowRarer"

    def backoff(self):
        return random.uniform(0.2, 0.4)


class BacksOffWithoutJitter(Lease):
    found_by = "Backoff.delaysOfSeveralClientsDiffer"

    def backoff(self):
        return min(2.0, 0.05 * 2**self.attempts)


class HearsNoDelayOfAStatus(Lease):
    found_by = "Backoff.serverThatNamesADelayIsLeftAloneForIt"

    def on_error(self, code, metadata):
        return super().on_error(code, None)


class AsksAFullQueueAtOnceAgain(Lease):
    found_by = "Refusal.fullQueueIsNotAskedAgainBeforeTheDelay"

    def on_refused(self, refused):
        if refused.HasField("acquire") and refused.HasField("retry_after"):
            refused.retry_after.CopyFrom(to_duration(0.02))
        super().on_refused(refused)


class RepeatsWhatIsRefusedForEver(Lease):
    found_by = "Refusal.requestThatIsRefusedAgainAndAgainEndsAtItsLimit"

    def on_refused(self, refused):
        acquisition = self.acquisitions.get(refused.acquire)
        if acquisition:
            acquisition.give_up = NEVER
        super().on_refused(refused)


class RepeatsAnAcquireThatIsWithdrawn(Lease):
    found_by = "Refusal.acquireRefusedAfterTheWithdrawalIsNotRepeated"

    def on_refused(self, refused):
        acquisition = self.acquisitions.get(refused.acquire)
        if acquisition and acquisition.state == "releasing":
            acquisition.state = "waiting"
        super().on_refused(refused)


class LeavesTheRetryToItself(Lease):
    found_by = "Refusal.withdrawalStopsTheRetry"

    def release(self, request_id):
        acquisition = self.acquisitions.get(request_id)
        retry = self.timers.pop(acquisition, None)
        super().release(request_id)
        if retry:
            acquire = acquisition_pb2.AcquireRequest(request_id=request_id, locks=[acquisition_pb2.LockRequest(name=acquisition.locks[0])])
            self.loop.call_at(retry.when(), lambda: self.send(acquire=acquire))
            retry.cancel()


class KeepsAHoldThatIsRefused(Lease):
    found_by = "Refusal.repeatedHoldThatIsRefusedForGoodIsLost"

    def on_refused(self, refused):
        acquisition = self.acquisitions.get(refused.acquire)
        if not acquisition or acquisition.state != "held":
            super().on_refused(refused)


class TakesAnyErrorForAPassingOne(Lease):
    found_by = "Resume.unknownLeaseIsTheLossOfEverything"

    def on_error(self, code, metadata):
        return 0


class TakesAnyErrorForTheEnd(Lease):
    found_by = "Resume.brokenStreamCostsNoLock"

    def on_error(self, code, metadata):
        self.end(code.name)
        return 0


class TakesAFullServerForTheEnd(Lease):
    found_by = "Resume.refusedStreamCostsNoLock"

    def on_error(self, code, metadata):
        if code != grpc.StatusCode.UNAVAILABLE:
            self.end(code.name)
        return super().on_error(code, metadata)


class OpensForEverWhatNobodyOffers(Lease):
    found_by = "Refusal.openThatNobodyOffersEndsTheRequest"

    def on_error(self, code, metadata):
        return 0 if code == grpc.StatusCode.UNIMPLEMENTED else super().on_error(code, metadata)


class SharesItsSecret(Lease):
    found_by = "Acquire.secretsOfTwoClientsDiffer"

    def __init__(self, servers, ttl, tell):
        super().__init__(servers, ttl, tell)
        self.secret = "0" * 32


class CountsAnswersOfTheStreamBefore(Lease):
    found_by = "KeepAlive.answerToAKeepAliveOfTheStreamBeforeRenewsNothing"
    sent = {}

    def send_keep_alive(self):
        super().send_keep_alive()
        self.sent = {**self.sent, **self.unanswered}

    def on_kept_alive(self, kept):
        super().on_kept_alive(kept)
        if kept.nonce in self.sent:
            self.extend(self.sent[kept.nonce], kept.valid_for, kept.keep_alive_interval)


class ForgetsNumbersAtAResume(Lease):
    found_by = "Epoch.eventThatIsNotAboveTheLastIsIgnoredAfterAResumeToo"

    def on_opened(self, opened):
        for acquisition in self.acquisitions.values():
            acquisition.last = (0, 0)
        super().on_opened(opened)


class TakesOnlyEventsOfABatch(Lease):
    found_by = "Tolerance.endOfTheLeaseInABatchIsItsEnd"

    def on_batch(self, batch):
        for response in batch.responses:
            if response.HasField("event"):
                self.hear(response)


class LetsAGrantUndoARelease(Lease):
    found_by = "Release.grantOfTheNextEpochDoesNotUndoARelease"

    def on_granted(self, acquisition, granted):
        if acquisition.state == "releasing":
            acquisition.state = "waiting"
        super().on_granted(acquisition, granted)


class LeavesItsOldLeaseOpen(Lease):
    found_by = "Close.leaseThatIsGivenUpIsClosed"

    async def close_lease(self):
        pass


class LeavesWhatItDoesNotKnow(Lease):
    found_by = "Release.requestThatTheClientDoesNotHaveIsReleased"

    def release_unknown(self, request_id):
        pass


class ReleasesWhatItDoesNotKnowForEachEvent(Lease):
    found_by = "Release.requestThatTheClientDoesNotHaveIsReleased"

    def release_unknown(self, request_id):
        self.send(release=acquisition_pb2.ReleaseRequest(request_id=request_id))


MISTAKES = {mistake.__name__: mistake for mistake in Lease.__subclasses__()}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name, mistake in MISTAKES.items():
            print(name, mistake.found_by)
    else:
        asyncio.run(Driver(MISTAKES[sys.argv[1]]).run())
