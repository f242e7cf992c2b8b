package main

import (
	"sort"
	"strings"
)

// acquisition is one request for a lock, with all that its client heard of it. Times that are zero never came.
type acquisition struct {
	name, process, lock, mode, lease string
	asked, granted, released         int64
	release, lost, refused           int64
	queued                           map[string]int64 // by lease
	token, until                     int64
	kept                             bool // the client may have kept the lock of an earlier one
	reason, lossReason               string
	killed                           int64   // when its process was killed
	extended                         []int64 // when its deadline moved on
}

// believed is until when the client took itself for the holder: until it released, was told of a loss, died, or its own
// deadline came.
func (a *acquisition) believed() int64 {
	end := a.until
	for _, t := range []int64{a.release, a.lost, a.killed} {
		if t != 0 && t < end {
			end = t
		}
	}
	return end
}

func (a *acquisition) held() bool {
	return a.granted != 0 && a.believed() > a.granted
}

func (a *acquisition) answered() bool {
	if a.granted == 0 {
		return a.refused != 0
	}
	return a.released != 0 || a.lost != 0
}

// loss says when and why the client lost what it held, or its place in the queue, if it did. Some find their deadline
// passed before they are told.
func (a *acquisition) loss() (when int64, why string) {
	switch {
	case a.lost != 0:
		return a.lost, a.lossReason
	case a.granted != 0 && a.release > a.until:
		return a.until, "DEADLINE_PASSED"
	case a.granted == 0 && (strings.HasPrefix(a.reason, "LEASE_LOST") || a.reason == "REMOVED" || a.reason == "SESSION_LOST"):
		return a.refused, "place: " + a.reason
	}
	return 0, ""
}

// follows says whether it uses what the same client has kept of the other: with its token, and without a place in the queue.
func (a *acquisition) follows(other *acquisition) bool {
	return a.kept && other.kept && a.token == other.token && a.lease == other.lease && a.process == other.process
}

func (a *acquisition) excludes(b *acquisition) bool {
	return a.mode != "read" || b.mode != "read"
}

// run is what a whole run's histories come to.
type run struct {
	events       []event
	acquisitions []*acquisition
	killed       map[string]int64
	begun, ended map[string]bool
	started      int64
	stop         int64 // when clients were told to finish
	done         int64
}

func assemble(events []event) *run {
	r := &run{events: events, killed: map[string]int64{}, begun: map[string]bool{}, ended: map[string]bool{}}
	byName := map[string]*acquisition{}
	for _, e := range events {
		switch e.Kind {
		case "killed":
			r.killed[e.Process] = e.Time
		case "begin":
			r.begun[e.Process] = true
		case "end":
			r.ended[e.Process] = true
		case "stop":
			r.stop = e.Time
		case "run":
			r.started = e.Time
		case "done":
			r.done = e.Time
		case "ask":
			a := &acquisition{name: e.Name, process: e.filename, lock: e.Lock, mode: e.Mode, asked: e.Time,
				kept: e.Kept, queued: map[string]int64{}}
			byName[e.Name] = a
			r.acquisitions = append(r.acquisitions, a)
		default:
			if a := byName[e.Name]; a != nil {
				a.hear(e)
			}
		}
	}
	for _, a := range r.acquisitions {
		a.killed = r.killed[a.process]
	}
	return r
}

func (a *acquisition) hear(e event) {
	switch e.Kind {
	case "queued":
		if _, again := a.queued[e.Lease]; !again {
			a.queued[e.Lease] = e.Time
		}
	case "granted":
		a.granted, a.token, a.lease = e.Time, e.Token, e.Lease
	case "extended":
		a.extended = append(a.extended, e.Time)
	case "release":
		a.release = e.Time
	case "released":
		a.released, a.reason = e.Time, e.Reason
	case "lost":
		a.lost, a.lossReason = e.Time, e.Reason
	case "refused":
		a.refused, a.reason = e.Time, e.Reason
	}
	if e.Until > a.until {
		a.until = e.Until
	}
}

// byLock returns the acquisitions of every lock that were held, in the order in which they were heard to be.
func (r *run) byLock() map[string][]*acquisition {
	locks := map[string][]*acquisition{}
	for _, a := range r.acquisitions {
		if a.held() {
			locks[a.lock] = append(locks[a.lock], a)
		}
	}
	for _, held := range locks {
		sort.Slice(held, func(i, j int) bool { return held[i].granted < held[j].granted })
	}
	return locks
}
