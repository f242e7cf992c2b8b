package main

import (
	"fmt"
	"sort"
	"strings"
)

// aftermath is how long after the end of a fault a loss or a pause is still put down to it.
const aftermath = 20 * 1_000_000_000

// fault is one fault with its time.
type fault struct {
	kind       string
	victims    []string
	begin, end int64
}

func (r *run) faults() []fault {
	byNumber := map[int64]*fault{}
	var numbers []int64
	for _, e := range r.events {
		if e.Kind != "fault" {
			continue
		}
		if e.Phase == "begin" {
			byNumber[e.Number] = &fault{e.Fault, e.Victims, e.Time, r.done}
			numbers = append(numbers, e.Number)
		} else if f := byNumber[e.Number]; f != nil {
			f.end = e.Time
		}
	}
	sort.Slice(numbers, func(i, j int) bool { return numbers[i] < numbers[j] })
	var all []fault
	for _, number := range numbers {
		all = append(all, *byNumber[number])
	}
	return all
}

func (f fault) touches(from, to int64) bool {
	return f.begin < to && f.end+aftermath > from
}

// during names the faults that were under way between two times, or had just ended.
func during(faults []fault, from, to int64) string {
	var kinds []string
	for _, f := range faults {
		if f.touches(from, to) {
			kinds = append(kinds, f.kind)
		}
	}
	if len(kinds) == 0 {
		return "no fault"
	}
	return strings.Join(kinds, " + ")
}

// excuses says whether a client may lose what it holds because of a fault: one of its own, or one of the ensemble, which can
// last as long as sessions do. Whatever happens to coordinators excuses nothing.
func (f fault) excuses(a *acquisition) bool {
	if strings.HasPrefix(f.kind, "ensemble-") {
		return true
	}
	for _, victim := range f.victims {
		if strings.HasPrefix(a.process, victim+".") {
			return true
		}
	}
	return false
}

// losses: nobody loses a lock, or its place in a queue, without a fault of its own or of the ensemble.
func (r *run) losses() []violation {
	faults := r.faults()
	var found []violation
	for _, a := range r.acquisitions {
		when, why := a.loss()
		if when == 0 || a.killed != 0 {
			continue
		}
		excused := false
		for _, f := range faults {
			// Nobody here takes away what is another's, whatever happens to whom.
			excused = excused || f.touches(a.asked, when) && f.excuses(a) && !strings.HasSuffix(why, "REMOVED")
		}
		if !excused {
			found = append(found, violation{"lost without cause", fmt.Sprintf("%s: %s, asked at %s, at %s: %s during %s", a.lock,
				r.describe(a), r.at(a.asked), r.at(when), why, during(faults, when, when))})
		}
	}
	return found
}
