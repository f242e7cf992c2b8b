package lockkeeper

// FirstServer has a client begin with the first server, for tests that say which that is.
func FirstServer() ClientOption { return func(c *config) { c.first = 0 } }

// ValidUntil returns the deadline as a reading of the client's clock, in nanoseconds: CLOCK_BOOTTIME on Linux.
func (l *Lock) ValidUntil() int64 { return int64(l.lease.until(l.acquisition)) }
