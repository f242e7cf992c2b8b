package lockkeeper

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	week       = 7 * 24 * time.Hour
	maxPermits = 1_000_000
)

// Spec is one lock of a request and how it is to be held.
//
// A name has 1 to 512 bytes of UTF-8, no control characters, and at most 16 segments separated by '/', none of them empty, "." or "..".
type Spec struct {
	name    string
	mode    pb.LockMode
	permits int
	limit   int
	custom  string
}

// Exclusive asks for a lock of which there is one holder at a time.
func Exclusive(name string) Spec { return Spec{name: name, mode: pb.LockMode_LOCK_MODE_EXCLUSIVE} }

// Read asks for a lock that is shared with other readers and excludes writers.
func Read(name string) Spec { return Spec{name: name, mode: pb.LockMode_LOCK_MODE_READ} }

// Write asks for the writing side of a read/write lock.
func Write(name string) Spec { return Spec{name: name, mode: pb.LockMode_LOCK_MODE_WRITE} }

// Permits asks for some of the permits of a lock, of which it has limit in all, 1 to 1,000,000; 0: as it was configured, or as others in the
// queue have named it.
func Permits(name string, count, limit int) Spec {
	return Spec{name: name, mode: pb.LockMode_LOCK_MODE_PERMITS, permits: count, limit: limit}
}

// Custom asks for a mode of a kind that the servers were extended with.
func Custom(name, mode string) Spec {
	return Spec{name: name, mode: pb.LockMode_LOCK_MODE_CUSTOM, custom: mode}
}

// excludes says whether nobody else holds the lock meanwhile, as far as the client can know.
func (s Spec) excludes() bool {
	return s.mode == pb.LockMode_LOCK_MODE_EXCLUSIVE || s.mode == pb.LockMode_LOCK_MODE_WRITE
}

func (s Spec) check() error {
	if err := checkName(s.name); err != nil {
		return err
	}
	if s.mode == pb.LockMode_LOCK_MODE_PERMITS {
		most := s.limit
		if most == 0 {
			most = maxPermits
		}
		if s.limit < 0 || s.limit > maxPermits {
			return fmt.Errorf("lockkeeper: limit must be 1 to 1,000,000, or 0, not %d", s.limit)
		}
		if s.permits < 1 || s.permits > most {
			return fmt.Errorf("lockkeeper: permits must be 1 to the limit, which is %d, not %d", most, s.permits)
		}
	}
	if s.mode == pb.LockMode_LOCK_MODE_CUSTOM && (s.custom == "" || !utf8.ValidString(s.custom)) {
		return fmt.Errorf("lockkeeper: mode of %q must be a name in UTF-8, not %.80q", s.name, s.custom)
	}
	return nil
}

func checkName(name string) error {
	wrong := func(rule string) error { return fmt.Errorf("lockkeeper: name must be %s, not %.80q", rule, name) }
	if !utf8.ValidString(name) {
		return wrong("UTF-8")
	}
	if len(name) < 1 || len(name) > 512 {
		return wrong("1 to 512 bytes")
	}
	if strings.IndexFunc(name, unicode.IsControl) >= 0 {
		return wrong("without control characters")
	}
	segments := strings.Split(name, "/")
	if len(segments) > 16 {
		return wrong("of 16 segments at most")
	}
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return wrong(`without empty segments, "." and ".."`)
		}
	}
	return nil
}

// Option says more of a request for locks.
type Option func(*request)

// Wait limits how long to wait, zero (only if the locks are free) to 7 days; then the request ends with TIMED_OUT. Without it a request waits as
// long as it takes.
func Wait(limit time.Duration) Option { return func(r *request) { r.wait = &limit } }

// Owner says who asks inside this client, up to 256 bytes: what an owner holds in the same mode it is granted again at once, and its waits
// are searched for cycles. Without an owner two requests of one client exclude each other like any others.
func Owner(name string) Option { return func(r *request) { r.owner = name } }

// Holder says who asks, human-readable, up to 256 bytes. Without it: the client's holder.
func Holder(who string) Option { return func(r *request) { r.holder = who } }

// Metadata is shown to others: up to 32 entries, 4 KiB in all, keys not empty.
func Metadata(metadata map[string]string) Option {
	metadata = maps.Clone(metadata) // it is sent again after a broken stream
	return func(r *request) { r.metadata = metadata }
}

// MaxHold limits how long the locks may be held, 100 ms to 7 days; then they are lost.
func MaxHold(limit time.Duration) Option { return func(r *request) { r.maxHold = limit } }

// KeepUnused has the client keep the locks when they are unlocked, unused for that long at most, 100 ms to an hour, and give them to its next
// request for the same locks that has this option, too: no server is asked then, and the fencing tokens are those of before. An unlock returns at
// once. The client gives the locks back when somebody else wants them, when the time is over, or when it keeps 1,000 locks unused already.
// Requests are for the same if they name the same locks in the same order, modes, permits, limits and [LockDelay]. While one of them uses an
// exclusive or write lock, or asks a server for it, the others wait in the client, first come, first served; when somebody else wants it, for a
// second at most. Who is handed what others want or have asked for is told so by the [Listener].
//
// An [Owner] is known to the client alone, and the search for cycles of waits knows nothing of such requests. What an owner uses it is granted
// again by a request for the same, also by one that was made before, but for permits and custom modes, of which each request has its own. Another one for any of these locks ends with
// WOULD_DEADLOCK, if either of the two is exclusive or for writing. Others go on seeing the [Holder] and the [Metadata] of the request that a
// server was asked with.
//
// Excludes [MaxHold], and elections.
func KeepUnused(limit time.Duration) Option { return func(r *request) { r.keep = &limit } }

// NotifyContention has [Listener.Contended] told when somebody waits for the locks: for holders that can give way.
func NotifyContention() Option { return func(r *request) { r.notify = true } }

// LockDelay says how long the next grant waits if this holder is lost rather than releases: up to an hour, in whole milliseconds.
func LockDelay(delay time.Duration) Option { return func(r *request) { r.lockDelay = delay } }

// PositionEvery has a change of the place in the queue told to [Listener.Queued] that often at most: 100 ms to an hour.
func PositionEvery(interval time.Duration) Option { return func(r *request) { r.position = interval } }

// DeadlockCheck says whether the request takes part in the search for cycles of waits. Without it: if it has an owner.
func DeadlockCheck(check bool) Option { return func(r *request) { r.deadlockCheck = &check } }

// Listen tells what happens to the request.
func Listen(listener Listener) Option { return func(r *request) { r.listener = listener } }

// Listener is told what happens to a request, one call at a time, on a goroutine of the client. It must not wait for locks of the same client.
// One that is 10,000 calls behind misses all but Lost. A panic is logged and harms nothing.
type Listener struct {
	// Queued gets the places in the queues.
	Queued func(places []Place)
	// ReleaseRequested says that somebody asks the holder to give way.
	ReleaseRequested func(asked ReleaseRequested)
	// Contended says that somebody waits for a lock that is held, if [NotifyContention] has asked for that: once for a hold, with the grant or later.
	Contended func(contended Contended)
	// Jeopardy says that the servers have lost ZooKeeper, and for how long the locks are good.
	Jeopardy func(validFor time.Duration)
	// Safe says that this is over.
	Safe func()
	// Lost says why the locks are not held any more.
	Lost func(reason string)
}

type request struct {
	specs         []Spec
	wait          *time.Duration
	owner         string
	holder        string
	metadata      map[string]string
	maxHold       time.Duration
	keep          *time.Duration
	notify        bool
	elects        bool // a leader
	lockDelay     time.Duration
	position      time.Duration
	deadlockCheck *bool
	listener      Listener
}

func newRequest(specs []Spec, options []Option) (*request, error) {
	r := &request{specs: specs}
	for _, option := range options {
		if option != nil {
			option(r)
		}
	}
	return r, r.check()
}

func (r *request) check() error {
	if len(r.specs) < 1 || len(r.specs) > 64 {
		return fmt.Errorf("lockkeeper: locks must be 1 to 64, not %d", len(r.specs))
	}
	names := map[string]bool{}
	for _, spec := range r.specs {
		if err := spec.check(); err != nil {
			return err
		}
		if names[spec.name] {
			return fmt.Errorf("lockkeeper: locks must be named once each, not %q twice", spec.name)
		}
		names[spec.name] = true
	}
	if err := checkMetadata(r.metadata); err != nil {
		return err
	}
	if err := checkLabel("owner", r.owner); err != nil {
		return err
	}
	if err := checkLabel("holder", r.holder); err != nil {
		return err
	}
	if r.wait != nil {
		if err := checkWithin("wait", *r.wait, 0, week); err != nil {
			return err
		}
	}
	if r.maxHold != 0 {
		if err := checkWithin("max hold", r.maxHold, 100*time.Millisecond, week); err != nil {
			return err
		}
	}
	if err := r.checkKeep(); err != nil {
		return err
	}
	if r.position != 0 {
		if err := checkWithin("position interval", r.position, 100*time.Millisecond, time.Hour); err != nil {
			return err
		}
	}
	if r.lockDelay%time.Millisecond != 0 {
		return fmt.Errorf("lockkeeper: lock delay must be whole milliseconds, not %s", r.lockDelay)
	}
	return checkWithin("lock delay", r.lockDelay, 0, time.Hour)
}

func (r *request) checkKeep() error {
	if r.keep == nil {
		return nil
	}
	if r.maxHold != 0 {
		return errors.New("lockkeeper: keep unused and max hold exclude each other: whose time would it be")
	}
	if r.elects {
		return errors.New("lockkeeper: keep unused must not be given for an election: who has resigned would be seen to lead")
	}
	return checkWithin("keep unused", *r.keep, 100*time.Millisecond, time.Hour)
}

func checkLabel(what, value string) error {
	if len(value) > 256 || !utf8.ValidString(value) {
		return fmt.Errorf("lockkeeper: %s must be 256 bytes of UTF-8 at most, not %.80q", what, value)
	}
	return nil
}

func checkWithin(what string, value, least, most time.Duration) error {
	if value < least || value > most {
		return fmt.Errorf("lockkeeper: %s must be %s to %s, not %s", what, least, most, value)
	}
	return nil
}

func checkMetadata(metadata map[string]string) error {
	size := 0
	for key, value := range metadata {
		if key == "" {
			return fmt.Errorf("lockkeeper: metadata must have no empty keys")
		}
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return fmt.Errorf("lockkeeper: metadata must be UTF-8, not %.80q", key+"="+value)
		}
		size += len(key) + len(value)
	}
	if len(metadata) > 32 || size > 4096 {
		return fmt.Errorf("lockkeeper: metadata must be 32 entries and 4096 bytes at most, not %d and %d", len(metadata), size)
	}
	return nil
}

// alike is what requests have in common that the same kept lock serves.
type alike struct {
	first     Spec
	others    string
	lockDelay time.Duration
}

func (r *request) alike() alike {
	others := ""
	for _, spec := range r.specs[1:] {
		others += fmt.Sprintf("%q %d %d %d %q,", spec.name, spec.mode, spec.permits, spec.limit, spec.custom)
	}
	return alike{r.specs[0], others, r.lockDelay}
}

func (r *request) excludes() bool { return slices.ContainsFunc(r.specs, Spec.excludes) }

// takesItsOwn says whether an owner's requests are not levels of each other: of permits, and of modes whose rule no client knows.
func (r *request) takesItsOwn() bool {
	return slices.ContainsFunc(r.specs, func(spec Spec) bool {
		return spec.mode == pb.LockMode_LOCK_MODE_PERMITS || spec.mode == pb.LockMode_LOCK_MODE_CUSTOM
	})
}

// wire is the request as a server is asked for a lock that is kept: it serves whoever comes next in the client.
func (r *request) wire() *request {
	check := false
	return &request{
		specs: slices.Clone(r.specs), holder: r.holder, metadata: r.metadata, lockDelay: r.lockDelay, position: r.position, deadlockCheck: &check,
		notify: true,
	}
}

func (r *request) String() string {
	names := make([]string, len(r.specs))
	for i, spec := range r.specs {
		names[i] = spec.name
	}
	return strings.Join(names, ", ")
}

// quoted is what was asked for, in a sentence.
func (r *request) quoted() string { return strconv.Quote(r.String()) }

// message is the request as it is sent, for the first time or once more.
func (r *request) message(id string, wait *time.Duration, tokens []int64, maxHold time.Duration) *pb.AcquireRequest {
	message := &pb.AcquireRequest{RequestId: id, Owner: r.owner, Holder: r.holder, Metadata: r.metadata, HeldTokens: tokens, NotifyContention: r.notify}
	for _, spec := range r.specs {
		message.Locks = append(message.Locks, &pb.LockRequest{
			Name: spec.name, Mode: spec.mode, Permits: int32(spec.permits), Limit: int32(spec.limit), Custom: spec.custom, //nolint:gosec // checked
		})
	}
	if wait != nil {
		message.WaitTimeout = durationpb.New(max(0, *wait))
	}
	if maxHold != 0 {
		message.MaxHold = durationpb.New(max(100*time.Millisecond, maxHold))
	}
	if r.lockDelay != 0 {
		message.LockDelay = durationpb.New(r.lockDelay)
	}
	if r.position != 0 {
		message.PositionInterval = durationpb.New(r.position)
	}
	if r.deadlockCheck != nil {
		message.DeadlockCheck = pb.DeadlockCheck_DEADLOCK_CHECK_OFF
		if *r.deadlockCheck {
			message.DeadlockCheck = pb.DeadlockCheck_DEADLOCK_CHECK_ON
		}
	}
	return message
}
