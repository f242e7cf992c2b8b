package lockkeeper

import "time"

// LongTurns gives requests that wait in the client for a contended lock an hour to get it, not a second.
func LongTurns(c *config) { c.lastTurns = time.Hour }

// EndTurns ends the time that requests have which wait in the client for a lock in use. No timer has run: only the clock says so.
func EndTurns(lock *Lock) {
	lock.lease.mu.Lock()
	defer lock.lease.mu.Unlock()
	lock.acquisition.known().keeps.until = now()
}
