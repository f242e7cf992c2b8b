package lockkeeper

import (
	"time"

	"golang.org/x/sys/unix"
)

// instant is a reading of a clock that never goes back, and goes on while the machine is suspended where there is such a clock.
type instant time.Duration

func now() instant {
	var read unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &read); err != nil {
		panic("lockkeeper: no CLOCK_BOOTTIME: " + err.Error()) // every Linux since 2.6.39 has it
	}
	return instant(read.Nano())
}
