//go:build !linux

package lockkeeper

import "time"

// instant is a reading of a clock that never goes back. It may stop while the machine is suspended.
type instant time.Duration

var began = time.Now()

func now() instant {
	return instant(time.Since(began))
}
