package main

import (
	"fmt"
	"math"
	"sort"
)

// violation is a promise that was not kept.
type violation struct {
	rule string
	what string
}

// at gives a time in seconds since the run began, for people.
func (r *run) at(t int64) string {
	return fmt.Sprintf("%.3f s", float64(t-r.started)/1e9)
}

func (r *run) describe(a *acquisition) string {
	if a.granted == 0 {
		return fmt.Sprintf("%s (%s, never held)", a.name, a.mode)
	}
	return fmt.Sprintf("%s (%s, lease %s, token %d, held from %s to %s, own deadline %s)", a.name, a.mode, a.lease, a.token,
		r.at(a.granted), r.at(a.believed()), r.at(a.until))
}

// exclusion: no two holders at once, by what each of them may believe, whose modes exclude each other.
func (r *run) exclusion() []violation {
	var found []violation
	for lock, held := range r.byLock() {
		var now []*acquisition
		for _, a := range held {
			still := now[:0]
			for _, b := range now {
				if b.believed() > a.granted {
					still = append(still, b)
					if a.excludes(b) {
						found = append(found, violation{"two holders at once",
							fmt.Sprintf("%s: %s and %s", lock, r.describe(b), r.describe(a))})
					}
				}
			}
			now = append(still, a)
		}
	}
	return found
}

// tokens: a later holder's token is higher than those of all before whom it excludes, and nobody has another's, but for what a
// client has kept for itself.
func (r *run) tokens() []violation {
	var found []violation
	for lock, held := range r.byLock() {
		var highest, highestWriter *acquisition
		owners := map[int64]*acquisition{}
		for _, a := range held {
			if other := owners[a.token]; other != nil && !a.follows(other) {
				found = append(found, violation{"one token granted twice",
					fmt.Sprintf("%s: %s and %s", lock, r.describe(other), r.describe(a))})
			}
			owners[a.token] = a
			before := highest
			if a.mode == "read" {
				before = highestWriter
			}
			if before != nil && before.token > a.token {
				found = append(found, violation{"tokens fall",
					fmt.Sprintf("%s: %s and then %s", lock, r.describe(before), r.describe(a))})
			}
			if highest == nil || a.token > highest.token {
				highest = a
			}
			if a.mode != "read" && (highestWriter == nil || a.token > highestWriter.token) {
				highestWriter = a
			}
		}
	}
	return found
}

// order: who was told of its place before another asked is granted before it. A place is kept as long as the lease is. What a
// client has kept it may use again until it hears that others wait.
func (r *run) order() []violation {
	var found []violation
	for lock, held := range r.byLock() {
		inOrder := append([]*acquisition{}, held...)
		sort.SliceStable(inOrder, func(i, j int) bool { return inOrder[i].token < inOrder[j].token })
		// From the last to the first: whoever is granted later than a must not have been in the queue before a asked.
		earliest := int64(math.MaxInt64)
		var first *acquisition
		for i := len(inOrder) - 1; i >= 0; i-- {
			a := inOrder[i]
			again := i > 0 && a.follows(inOrder[i-1])
			if earliest < a.asked && !again {
				found = append(found, violation{"overtaken",
					fmt.Sprintf("%s: %s asked at %s, when %s was in the queue since %s", lock, r.describe(a),
						r.at(a.asked), r.describe(first), r.at(earliest))})
			}
			if queued, told := a.queued[a.lease]; told && queued < earliest {
				earliest, first = queued, a
			}
		}
	}
	return found
}

// answers: every acquisition of a client that lived to the end has an end, and every process that was not killed finished.
func (r *run) answers() []violation {
	var found []violation
	for _, a := range r.acquisitions {
		if a.killed == 0 && !a.answered() {
			found = append(found, violation{"unanswered", fmt.Sprintf("%s: %s, asked at %s, granted %v, release asked %v",
				a.lock, a.name, r.at(a.asked), a.granted != 0, a.release != 0)})
		}
	}
	for process := range r.begun {
		if !r.ended[process] && r.killed[process] == 0 {
			found = append(found, violation{"unfinished", "process " + process + " did not end by itself"})
		}
	}
	return found
}

// remains: what the runner has found wrong, or left.
func (r *run) remains() []violation {
	var found []violation
	for _, e := range r.events {
		switch e.Kind {
		case "leftover":
			found = append(found, violation{"left in ZooKeeper", e.What})
		case "denied":
			found = append(found, violation{"holder told it never held", e.Name + " at " + r.at(e.Time) + ": " + e.Reason})
		case "stuck":
			found = append(found, violation{"stuck", e.What})
		case "resource":
			if e.After > e.Limit {
				found = append(found, violation{"leak", fmt.Sprintf("%s of %s: %d before, %d after, limit %d",
					e.What, e.Process, e.Before, e.After, e.Limit)})
			}
		}
	}
	if r.done == 0 {
		found = append(found, violation{"unfinished", "the run did not come to its end"})
	}
	return found
}

// clocks: all processes read one and the same clock; otherwise nothing above means anything.
func (r *run) clocks() []violation {
	for _, e := range r.events {
		if e.Time < r.started || (r.done != 0 && e.Time > r.done) {
			return []violation{{"clocks differ", fmt.Sprintf("%s of %s is outside the run", e.Kind, e.filename)}}
		}
	}
	return nil
}
