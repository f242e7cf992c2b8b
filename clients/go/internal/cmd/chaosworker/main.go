// Program chaosworker is a process of several clients for the chaos tests. It works until a line comes on its standard input, then finishes
// what it has begun; it dies when its input ends. Arguments: process name, servers, port of the registers, history file, clients, seed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lockkeeper.io/lockkeeper"
)

func read(clock int32) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		log.Fatal(err)
	}
	return now.Nano()
}

// shift is by how much the client's clock is ahead of the one that all histories have.
var shift = read(unix.CLOCK_BOOTTIME) - read(unix.CLOCK_MONOTONIC)

func until(lock *lockkeeper.Lock) int64 { return lock.ValidUntil() - shift }

// history is a file of events, one JSON object a line; each is with the kernel at once.
type history struct {
	mu   sync.Mutex
	file *os.File
}

type fields map[string]any

func (h *history) write(event string, more fields) {
	line := fields{"e": event}
	for key, value := range more {
		line[key] = value
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	line["t"] = read(unix.CLOCK_MONOTONIC)
	text, err := json.Marshal(line)
	if err == nil {
		_, err = h.file.Write(append(text, '\n'))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// registers is a connection to the registers that the locks protect.
type registers struct {
	history    *history
	connection net.Conn
	answers    *bufio.Reader
}

// increment reads a number and writes one more; false if the token was found to be stale.
func (r *registers) increment(a, lock string, token int64) bool {
	before, ok := r.ask(a, "read", lock, token, 0, fmt.Sprintf("R %s %d\n", lock, token))
	if !ok {
		return false
	}
	_, ok = r.ask(a, "write", lock, token, before+1, fmt.Sprintf("W %s %d %d\n", lock, token, before+1))
	return ok
}

func (r *registers) ask(a, what, lock string, token, value int64, line string) (int64, bool) {
	r.history.write(what, fields{"a": a, "lock": lock, "token": token, "value": value})
	var word string
	var number int64
	_, err := r.connection.Write([]byte(line))
	if err == nil {
		_, err = fmt.Fscanf(r.answers, "%s %d\n", &word, &number)
	}
	if err != nil {
		log.Fatal(err)
	}
	r.history.write("answer", fields{"a": a, "ok": word == "ok", "value": number})
	return number, word == "ok"
}

// work is what a client does next: the same as the clients of other languages.
type work struct {
	lock     string
	spec     lockkeeper.Spec
	mode     string
	hold     time.Duration
	step     time.Duration
	rest     time.Duration
	wait     time.Duration // 0: as long as it takes
	withdraw time.Duration // 0: never
}

func draw(index int, chance *rand.Rand) work {
	between := func(least, most float64) time.Duration {
		return time.Duration((least + chance.Float64()*(most-least)) * float64(time.Second))
	}
	switch index % 3 {
	case 0:
		name := fmt.Sprintf("chaos/long/%d", chance.IntN(16))
		return work{lock: name, spec: lockkeeper.Exclusive(name), mode: "exclusive", hold: between(1, 12), step: 400 * time.Millisecond, rest: between(0.1, 1)}
	case 1:
		name := fmt.Sprintf("chaos/hot/%d", chance.IntN(4))
		w := work{lock: name, spec: lockkeeper.Exclusive(name), mode: "exclusive", hold: between(0.001, 0.06), step: 20 * time.Millisecond, rest: between(0.02, 0.25)}
		switch lot := chance.Float64(); {
		case lot < 0.2:
			w.wait = between(0.001, 1.5)
		case lot < 0.3:
			w.withdraw = between(0.001, 0.3)
		}
		return w
	default:
		name := fmt.Sprintf("chaos/shared/%d", chance.IntN(3))
		w := work{lock: name, spec: lockkeeper.Read(name), mode: "read", hold: between(0.005, 0.8), step: 50 * time.Millisecond, rest: between(0.05, 0.5)}
		if chance.IntN(3) == 0 {
			w.spec, w.mode = lockkeeper.Write(name), "write"
		}
		return w
	}
}

// hand is one client with one lease: it asks, works, releases, until it is told to stop.
type hand struct {
	name      string
	index     int
	client    *lockkeeper.Client
	registers *registers
	history   *history
	chance    *rand.Rand
	stop      chan struct{}

	mu   sync.Mutex
	held *lockkeeper.Lock
	a    string
	last int64 // the deadline that was written down last
}

func (h *hand) run() {
	looking := make(chan struct{})
	go h.look(looking)
	for count := 1; !h.pause(time.Millisecond); count++ {
		w := draw(h.index, h.chance)
		h.once(fmt.Sprintf("%s/%d", h.name, count), w)
		h.pause(w.rest)
	}
	close(looking)
	h.client.Close()
}

// pause waits; true: it is time to stop.
func (h *hand) pause(length time.Duration) bool {
	select {
	case <-h.stop:
		return true
	case <-time.After(length):
		return false
	}
}

func (h *hand) once(a string, w work) {
	kept := h.chance.IntN(2) == 0
	keep := time.Duration(100+h.chance.IntN(4_900)) * time.Millisecond
	h.history.write("ask", fields{"a": a, "lock": w.lock, "mode": w.mode, "kept": kept})
	options := []lockkeeper.Option{lockkeeper.DeadlockCheck(false), lockkeeper.Listen(lockkeeper.Listener{
		Queued: func(places []lockkeeper.Place) {
			h.history.write("queued", fields{"a": a, "lease": h.client.LeaseTag(), "ahead": places[0].Ahead})
		},
	})}
	if kept {
		options = append(options, lockkeeper.KeepUnused(keep))
	}
	if w.wait > 0 {
		options = append(options, lockkeeper.Wait(w.wait))
	}
	ctx := context.Background()
	if w.withdraw > 0 {
		limited, cancel := context.WithTimeout(ctx, w.withdraw)
		defer cancel()
		ctx = limited
	}
	lock, err := h.client.Acquire(ctx, []lockkeeper.Spec{w.spec}, options...)
	if err != nil {
		h.history.write("refused", fields{"a": a, "reason": reason(err)})
		return
	}
	h.mu.Lock()
	h.held, h.a, h.last = lock, a, until(lock)
	h.history.write("granted", fields{"a": a, "lease": h.client.LeaseTag(), "token": lock.FencingToken(), "until": h.last})
	h.mu.Unlock()
	h.use(a, w, lock)
}

func reason(err error) string {
	var not *lockkeeper.NotAcquiredError
	var lease *lockkeeper.LeaseLostError
	switch {
	case errors.As(err, &not):
		return not.Reason
	case errors.As(err, &lease):
		return "LEASE_LOST " + lease.Reason
	case errors.Is(err, context.DeadlineExceeded):
		return "WITHDRAWN"
	default:
		return err.Error()
	}
}

func (h *hand) use(a string, w work, lock *lockkeeper.Lock) {
	end := time.Now().Add(w.hold)
	for lock.Valid() && time.Now().Before(end) {
		// Not checked again before the write: that is what the token is for.
		if w.mode != "read" && !h.registers.increment(a, w.lock, lock.FencingToken()) {
			break
		}
		if h.pause(w.step) {
			break
		}
	}
	h.mu.Lock()
	h.held = nil
	h.mu.Unlock()
	var lost *lockkeeper.LostError
	if errors.As(lock.Err(), &lost) {
		h.history.write("lost", fields{"a": a, "until": until(lock), "reason": lost.Reason})
	}
	h.history.write("release", fields{"a": a, "until": until(lock)})
	result := lock.Release(context.Background())
	h.history.write("released", fields{"a": a, "reason": result.Outcome})
}

// look writes down when the deadline of what is held has moved on.
func (h *hand) look(end chan struct{}) {
	for {
		select {
		case <-end:
			return
		case <-time.After(200 * time.Millisecond):
		}
		h.mu.Lock()
		if h.held != nil && until(h.held) != h.last {
			h.last = until(h.held)
			h.history.write("extended", fields{"a": h.a, "until": h.last})
		}
		h.mu.Unlock()
	}
}

func main() {
	process, servers, port, path := os.Args[1], strings.Split(os.Args[2], ","), os.Args[3], os.Args[4]
	count, err := strconv.Atoi(os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	seed, err := strconv.ParseUint(os.Args[6], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	history := &history{file: file}
	history.write("begin", fields{"process": process})
	stop := make(chan struct{})
	go awaitStop(stop)
	var all sync.WaitGroup
	for index := range count {
		turned := append(append([]string{}, servers[index%len(servers):]...), servers[:index%len(servers)]...)
		name := fmt.Sprintf("%s/%d", process, index)
		client, err := lockkeeper.New(strings.Join(turned, ","), lockkeeper.ClientHolder(name))
		if err != nil {
			log.Fatal(err)
		}
		connection, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			log.Fatal(err)
		}
		h := &hand{
			name: name, index: index, client: client, history: history, stop: stop,
			registers: &registers{history, connection, bufio.NewReader(connection)}, chance: rand.New(rand.NewPCG(seed, uint64(index))),
		}
		all.Go(h.run)
	}
	all.Wait()
	history.write("end", fields{"process": process})
}

func awaitStop(stop chan struct{}) {
	lines := bufio.NewScanner(os.Stdin)
	once := sync.OnceFunc(func() { close(stop) })
	for lines.Scan() {
		fmt.Println("told:", lines.Text())
		once()
	}
	os.Exit(3)
}
