package main

import (
	"strings"
	"testing"
)

// second is one second of a history's time.
const second = int64(1_000_000_000)

// history builds the events of acquisitions, one after the other; each test then spoils it.
type history struct{ events []event }

func (h *history) add(e event) *history {
	e.filename = "p.1"
	h.events = append(h.events, e)
	return h
}

// holds adds an acquisition that is granted, written under and released.
func (h *history) holds(name, mode string, token, from, to int64) *history {
	h.add(event{Time: from*second - 5, Kind: "ask", Name: name, Lock: "l", Mode: mode})
	h.add(event{Time: from * second, Kind: "granted", Name: name, Lease: "a", Token: token, Until: (from + 15) * second})
	h.add(event{Time: to * second, Kind: "release", Name: name, Until: (to + 15) * second})
	return h.add(event{Time: to*second + 1, Kind: "released", Name: name, Reason: "RELEASED"})
}

func (h *history) increments(name string, token, at, before int64, ok bool) *history {
	h.add(event{Time: at * second, Kind: "read", Name: name, Lock: "l", Token: token})
	h.add(event{Time: at*second + 1, Kind: "answer", Name: name, OK: true, Value: before})
	h.add(event{Time: at*second + 2, Kind: "write", Name: name, Lock: "l", Token: token, Value: before + 1})
	return h.add(event{Time: at*second + 3, Kind: "answer", Name: name, OK: ok, Value: before + 1})
}

func (h *history) rules() []string {
	h.add(event{Time: 0, Kind: "begin", Process: "p.1"})
	h.add(event{Time: 1000 * second, Kind: "end", Process: "p.1"})
	h.add(event{Time: 1000 * second, Kind: "done"})
	_, found := assemble(h.events).check()
	var rules []string
	for _, v := range found {
		rules = append(rules, v.rule)
	}
	return rules
}

func expect(t *testing.T, h *history, want ...string) {
	t.Helper()
	if got := h.rules(); strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestHoldersOneAfterTheOtherAreFine(t *testing.T) {
	expect(t, new(history).holds("x", "exclusive", 5, 1, 3).holds("y", "exclusive", 6, 3, 4))
}

// keeps says that its client may keep what the last acquisition asked for.
func (h *history) keeps() *history {
	for i := len(h.events) - 1; ; i-- {
		if h.events[i].Kind == "ask" {
			h.events[i].Kept = true
			return h
		}
	}
}

func TestClientMayUseAgainWhatItHasKept(t *testing.T) {
	h := new(history).holds("x", "exclusive", 5, 1, 3).keeps().holds("y", "exclusive", 5, 6, 8).keeps()
	h.add(event{Time: 4 * second, Kind: "ask", Name: "z", Lock: "l", Mode: "exclusive"})
	h.add(event{Time: 5 * second, Kind: "queued", Name: "z", Lease: "b"})
	h.add(event{Time: 9 * second, Kind: "granted", Name: "z", Lease: "b", Token: 6, Until: 20 * second})
	h.add(event{Time: 10 * second, Kind: "release", Name: "z", Until: 20 * second})
	expect(t, h.add(event{Time: 10*second + 1, Kind: "released", Name: "z", Reason: "RELEASED"}))
}

func TestTokenThatOneKeepsIsNobodyElses(t *testing.T) {
	expect(t, new(history).holds("x", "exclusive", 5, 1, 3).keeps().holds("y", "exclusive", 5, 3, 4), "one token granted twice")
}

func TestKeptLockThatIsUsedTwiceAtOnceIsFound(t *testing.T) {
	h := new(history).holds("x", "exclusive", 5, 1, 3).keeps().holds("y", "exclusive", 5, 2, 4).keeps()
	expect(t, h, "two holders at once")
}

func TestTwoHoldersAtOnceAreFound(t *testing.T) {
	expect(t, new(history).holds("x", "exclusive", 5, 1, 3).holds("y", "exclusive", 6, 2, 4), "two holders at once")
}

func TestOnlyReadersMayHoldTogether(t *testing.T) {
	expect(t, new(history).holds("x", "read", 5, 1, 3).holds("y", "read", 6, 2, 4))
	expect(t, new(history).holds("x", "read", 5, 1, 3).holds("y", "write", 6, 2, 4), "two holders at once")
}

func TestAHolderBelievesUntilItsOwnDeadline(t *testing.T) {
	silent := new(history)
	silent.add(event{Time: 1, Kind: "ask", Name: "x", Lock: "l", Mode: "exclusive"})
	silent.add(event{Time: 2, Kind: "granted", Name: "x", Token: 5, Until: 10 * second})
	silent.add(event{Time: 5 * second, Kind: "extended", Name: "x", Until: 20 * second})
	silent.add(event{Time: 90 * second, Kind: "lost", Name: "x", Until: 20 * second})
	events := append([]event{}, silent.events...)
	expect(t, silent.holds("y", "exclusive", 6, 20, 22), "lost without cause")
	expect(t, (&history{events}).holds("y", "exclusive", 6, 19, 22), "two holders at once", "lost without cause")
}

func TestADeadHolderBelievesNothing(t *testing.T) {
	h := new(history)
	h.add(event{Time: 1, Kind: "ask", Name: "x", Lock: "l", Mode: "exclusive"})
	h.add(event{Time: 2, Kind: "granted", Name: "x", Token: 5, Until: 50 * second})
	h.events = append(h.events, event{Time: 10 * second, Kind: "killed", Process: "p.1"})
	expect(t, h)
}

func TestFallingAndRepeatedTokensAreFound(t *testing.T) {
	expect(t, new(history).holds("x", "exclusive", 6, 1, 3).holds("y", "exclusive", 5, 4, 5), "tokens fall")
	expect(t, new(history).holds("x", "exclusive", 6, 1, 3).holds("y", "exclusive", 6, 4, 5), "one token granted twice")
}

func TestOvertakingIsFound(t *testing.T) {
	queued := event{Time: 1 * second, Kind: "queued", Name: "x", Lease: "a"}
	late := new(history).holds("x", "exclusive", 7, 8, 9).add(queued).holds("y", "exclusive", 6, 4, 5)
	expect(t, late, "overtaken")
	// Queued under a lease that is over, it has lost its place.
	queued.Lease = "b"
	expect(t, new(history).holds("x", "exclusive", 7, 8, 9).add(queued).holds("y", "exclusive", 6, 4, 5))
}

func TestAMissingAnswerIsFound(t *testing.T) {
	ask := event{Time: 1, Kind: "ask", Name: "x", Lock: "l", Mode: "exclusive"}
	expect(t, new(history).add(ask), "unanswered")
	granted := event{Time: 2, Kind: "granted", Name: "x", Token: 5, Until: 9}
	expect(t, new(history).add(ask).add(granted), "unanswered")
	expect(t, new(history).add(ask).add(event{Time: 2, Kind: "refused", Name: "x"}))
}

func TestWhatTheRunnerFoundIsFound(t *testing.T) {
	expect(t, new(history).add(event{Kind: "leftover", What: "/locks/l/x"}), "left in ZooKeeper")
	expect(t, new(history).add(event{Kind: "stuck", What: "drain"}), "stuck")
	expect(t, new(history).add(event{Kind: "resource", Before: 30, After: 90, Limit: 46}), "leak")
	expect(t, new(history).add(event{Kind: "begin", Process: "q.1"}), "unfinished")
}

func TestALostIncrementIsFound(t *testing.T) {
	good := new(history).increments("x", 5, 1, 0, true).increments("y", 6, 2, 1, true)
	expect(t, good)
	// The second has read what was there before the first: as single operations wrong as well.
	expect(t, new(history).increments("x", 5, 1, 0, true).increments("y", 6, 2, 0, true),
		"not linearizable", "not linearizable")
}

func TestTwoOwnersOfOneTokenAreFoundByTheirIncrements(t *testing.T) {
	h := new(history)
	for i, name := range []string{"x", "y"} {
		h.add(event{Time: 1*second + int64(i), Kind: "read", Name: name, Lock: "l", Token: 5})
	}
	for _, name := range []string{"x", "y"} {
		h.add(event{Time: 2 * second, Kind: "answer", Name: name, OK: true, Value: 0})
	}
	for i, name := range []string{"x", "y"} {
		h.add(event{Time: 3*second + int64(i), Kind: "write", Name: name, Lock: "l", Token: 5, Value: 1})
		h.add(event{Time: 4 * second, Kind: "answer", Name: name, OK: true, Value: 1})
	}
	expect(t, h, "not linearizable")
}

func TestAStaleTokenThatIsAcceptedIsFound(t *testing.T) {
	expect(t, new(history).increments("x", 6, 1, 0, true).increments("y", 5, 2, 1, true),
		"not linearizable", "not linearizable")
}

func TestAWriteWithoutAnAnswerMayOrMayNotHaveBeen(t *testing.T) {
	for _, before := range []int64{0, 1} {
		h := new(history)
		h.add(event{Time: 1, Kind: "read", Name: "x", Lock: "l", Token: 5})
		h.add(event{Time: 2, Kind: "answer", Name: "x", OK: true, Value: 0})
		h.add(event{Time: 3, Kind: "write", Name: "x", Lock: "l", Token: 5, Value: 1})
		expect(t, h.increments("y", 6, 2, before, true))
	}
}

func TestAnotherClockIsFound(t *testing.T) {
	expect(t, new(history).add(event{Time: 2000 * second, Kind: "opened"}), "clocks differ")
}

func TestALossNeedsAFaultOfTheClientOrTheEnsemble(t *testing.T) {
	for kind, want := range map[string][]string{
		"coordinator-kill": {"lost without cause"}, "clients-freeze": nil, "ensemble-quorum-kill": nil,
	} {
		h := new(history)
		victims := map[string][]string{"clients-freeze": {"p"}}[kind]
		h.add(event{Time: 2 * second, Kind: "fault", Phase: "begin", Number: 1, Fault: kind, Victims: victims})
		h.add(event{Time: 3 * second, Kind: "fault", Phase: "end", Number: 1, Fault: kind})
		h.add(event{Time: 1, Kind: "ask", Name: "x", Lock: "l", Mode: "exclusive"})
		h.add(event{Time: 2, Kind: "granted", Name: "x", Token: 5, Until: 10 * second})
		h.add(event{Time: 10 * second, Kind: "lost", Name: "x", Reason: "DEADLINE_PASSED"})
		expect(t, h, want...)
	}
}

func TestAPlaceThatIsLostNeedsACauseToo(t *testing.T) {
	ask := event{Time: 1, Kind: "ask", Name: "x", Lock: "l", Mode: "exclusive"}
	lost := event{Time: 10 * second, Kind: "refused", Name: "x", Reason: "LEASE_LOST LEASE_UNKNOWN"}
	expect(t, new(history).add(ask).add(lost), "lost without cause")
	lost.Reason = "TIMED_OUT"
	expect(t, new(history).add(ask).add(lost))
}

func TestNothingExcusesThatAnEntryIsRemoved(t *testing.T) {
	h := new(history).add(event{Time: 2 * second, Kind: "fault", Phase: "begin", Number: 1, Fault: "ensemble-quorum-kill"})
	h.add(event{Time: 1, Kind: "ask", Name: "x", Lock: "l", Mode: "exclusive"})
	h.add(event{Time: 2, Kind: "granted", Name: "x", Token: 5, Until: 20 * second})
	expect(t, h.add(event{Time: 10 * second, Kind: "lost", Name: "x", Reason: "REMOVED"}), "lost without cause")
}
