package main

import (
	"fmt"
	"sort"
	"strings"
)

// summary says what was checked, for people.
func (r *run) summary(registerOperations int) []string {
	faults := r.faults()
	granted, refused, killed := 0, 0, 0
	endings, losses := map[string]int{}, map[string]int{}
	var grants []int64
	for _, a := range r.acquisitions {
		if a.granted != 0 {
			granted++
			grants = append(grants, a.granted)
		} else if a.refused != 0 {
			refused++
			endings[ending(a.reason)]++
		}
		if a.killed != 0 {
			killed++
		}
		if when, why := a.loss(); when != 0 {
			losses[why+" during "+during(faults, when, when)]++
		}
	}
	kinds := map[string]int{}
	for _, f := range faults {
		kinds[f.kind]++
	}
	kept, takeovers, silences := r.kept(faults)
	lines := []string{
		fmt.Sprintf("operations checked: %d (%d acquisitions, %d register operations)",
			len(r.acquisitions)+registerOperations, len(r.acquisitions), registerOperations),
		fmt.Sprintf("acquisitions: %d granted, %d not, in %d processes (%d of acquisitions of killed ones)", granted,
			refused, len(r.begun), killed),
	}
	lines = append(lines, tally("not granted", endings)...)
	lines = append(lines, fmt.Sprintf("holds and places lost: %d", total(losses)))
	lines = append(lines, tally("lost", losses)...)
	lines = append(lines, fmt.Sprintf("faults: %d", len(faults)))
	lines = append(lines, tally("fault", kinds)...)
	lines = append(lines, fmt.Sprintf("takeovers of lock sessions: %d; grants kept across them: %d", takeovers, kept))
	if n := len(silences); n > 0 {
		lines = append(lines, fmt.Sprintf("holders heard of their lock again after the kill of its coordinator: median %d ms, longest %d ms",
			silences[n/2]/1e6, silences[n-1]/1e6))
	}
	lines = append(lines, r.longestPause(grants, faults))
	for _, e := range r.events {
		if e.Kind == "settled" {
			lines = append(lines, fmt.Sprintf("after the clients had gone: clean in %d ms, %d left", e.Millis, e.Left))
		}
		if e.Kind == "resource" {
			lines = append(lines, fmt.Sprintf("%s: %s %d before, %d after", e.Process, e.What, e.Before, e.After))
		}
	}
	return lines
}

// ending shortens a reason to what it begins with.
func ending(reason string) string {
	if cut := strings.IndexAny(reason, ":\""); cut > 0 {
		reason = reason[:cut]
	}
	return reason[strings.LastIndex(reason, ".")+1:]
}

// kept counts the holds that went on when the session that owns them passed to another coordinator, and how long their
// clients heard nothing after a kill.
func (r *run) kept(faults []fault) (kept, takeovers int, silences []int64) {
	byLease := map[string][]*acquisition{}
	for _, a := range r.acquisitions {
		if a.granted != 0 {
			byLease[a.lease] = append(byLease[a.lease], a)
		}
	}
	for _, e := range r.events {
		if e.Kind != "adopted" {
			continue
		}
		takeovers++
		for _, lease := range e.Leases {
			for _, a := range byLease[lease] {
				if a.granted < e.Time && a.release > e.Time && a.lost == 0 && a.until > a.release {
					kept++
					silences = append(silences, a.silence(e.Time, faults)...)
				}
			}
		}
	}
	sort.Slice(silences, func(i, j int) bool { return silences[i] < silences[j] })
	return kept, takeovers, silences
}

// silence is how long after the kill that led to a takeover a holder's deadline moved on, if there was a kill.
func (a *acquisition) silence(takeover int64, faults []fault) []int64 {
	for i := len(faults) - 1; i >= 0; i-- {
		if f := faults[i]; f.begin < takeover && strings.HasPrefix(f.kind, "coordinator-") {
			if !strings.HasPrefix(f.kind, "coordinator-kill") {
				return nil
			}
			for _, t := range a.extended {
				if t > takeover {
					return []int64{t - f.begin}
				}
			}
			return nil
		}
	}
	return nil
}

func (r *run) longestPause(grants []int64, faults []fault) string {
	sort.Slice(grants, func(i, j int) bool { return grants[i] < grants[j] })
	var longest, from, to int64
	for i := 1; i < len(grants) && (r.stop == 0 || grants[i] < r.stop); i++ {
		if gap := grants[i] - grants[i-1]; gap > longest {
			longest, from, to = gap, grants[i-1], grants[i]
		}
	}
	return fmt.Sprintf("longest time without any grant: %d ms, from %s (%s)", longest/1e6, r.at(from),
		during(faults, from, to))
}

func tally(label string, counts map[string]int) []string {
	var lines []string
	for what, count := range counts {
		lines = append(lines, fmt.Sprintf("  %s: %s %d", label, what, count))
	}
	sort.Strings(lines)
	return lines
}

func total(counts map[string]int) int {
	sum := 0
	for _, count := range counts {
		sum += count
	}
	return sum
}
