package main

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

const patience = 60 * time.Second

// request is what a client asked of a register, or a whole increment: a read and a write of one more.
type request struct {
	kind  string // read, write, increment
	token int64
	value int64
}

// answer is what it heard; of a client that was killed, nothing.
type answer struct {
	known bool
	ok    bool
	value int64
}

// guarded is a register and the highest token that it was shown.
type guarded struct {
	token int64
	value int64
}

// step is the register as a sequential program. What nobody heard the answer of may be put last, where it changes nothing.
func step(state guarded, in request, out answer) (bool, guarded) {
	fresh := in.token >= state.token
	if !out.known {
		if !fresh {
			return true, state
		}
		return true, apply(state, in)
	}
	if !out.ok {
		// That an increment was refused is judged by its parts.
		return in.kind == "increment" || (!fresh && out.value == state.token), state
	}
	if !fresh || (in.kind != "write" && out.value != state.value) {
		return false, state
	}
	return true, apply(state, in)
}

func apply(state guarded, in request) guarded {
	switch in.kind {
	case "write":
		return guarded{in.token, in.value}
	case "increment":
		return guarded{in.token, state.value + 1}
	}
	return guarded{in.token, state.value}
}

var model = porcupine.Model{
	Init: func() interface{} { return guarded{} },
	Step: func(state, in, out interface{}) (bool, interface{}) {
		return step(state.(guarded), in.(request), out.(answer))
	},
	Equal: func(a, b interface{}) bool { return a.(guarded) == b.(guarded) },
	Hash: func(s interface{}) uint64 {
		g := s.(guarded)
		return uint64(g.token)*31 + uint64(g.value)
	},
}

// operations returns what was done to each register: single reads and writes, and the increments that they make up.
func (r *run) operations() (single, increments map[string][]porcupine.Operation) {
	single, increments = map[string][]porcupine.Operation{}, map[string][]porcupine.Operation{}
	open := map[string]*porcupine.Operation{}
	reads := map[string]*porcupine.Operation{}
	locks := map[string]string{}
	var all []*porcupine.Operation
	var of []string
	for _, e := range r.events {
		switch e.Kind {
		case "read", "write":
			operation := &porcupine.Operation{Input: request{e.Kind, e.Token, e.Value}, Call: e.Time,
				Return: math.MaxInt64, Output: answer{}}
			open[e.Name], locks[e.Name] = operation, e.Lock
			all, of = append(all, operation), append(of, e.Lock)
			if e.Kind == "read" {
				reads[e.Name] = operation
			}
		case "answer":
			operation := open[e.Name]
			operation.Return, operation.Output = e.Time, answer{true, e.OK, e.Value}
		}
		if write := open[e.Name]; e.Kind == "answer" && write.Input.(request).kind == "write" {
			increments[locks[e.Name]] = append(increments[locks[e.Name]], increment(reads[e.Name], write))
			delete(reads, e.Name)
		}
	}
	for i, operation := range all {
		single[of[i]] = append(single[of[i]], *operation)
		// A write without an answer: an increment that may have been.
		if in := operation.Input.(request); in.kind == "write" && operation.Return == math.MaxInt64 {
			increments[of[i]] = append(increments[of[i]], porcupine.Operation{
				Input: request{"increment", in.token, 0}, Call: operation.Call, Return: math.MaxInt64, Output: answer{}})
		}
	}
	return single, increments
}

func increment(read, write *porcupine.Operation) porcupine.Operation {
	return porcupine.Operation{
		Input: request{"increment", write.Input.(request).token, 0}, Call: read.Call, Return: write.Return,
		Output: answer{true, write.Output.(answer).ok, read.Output.(answer).value},
	}
}

// registers: what was done to each register is linearizable, operation by operation and increment by increment.
func (r *run) registers() (checked int, found []violation) {
	single, increments := r.operations()
	for _, histories := range []map[string][]porcupine.Operation{single, increments} {
		for lock, history := range histories {
			checked += len(history)
			switch porcupine.CheckOperationsTimeout(model, history, patience) {
			case porcupine.Illegal:
				found = append(found, violation{"not linearizable", describeRegister(lock, history)})
			case porcupine.Unknown:
				found = append(found, violation{"not decided", lock + ": the check took too long"})
			}
		}
	}
	return checked, found
}

// describeRegister names the shortest beginning of a history that is not linearizable.
func describeRegister(lock string, history []porcupine.Operation) string {
	sort.Slice(history, func(i, j int) bool { return history[i].Return < history[j].Return })
	broken := sort.Search(len(history), func(n int) bool {
		return porcupine.CheckOperationsTimeout(model, pending(history, n+1), patience) == porcupine.Illegal
	})
	if broken == len(history) {
		return fmt.Sprintf("%s: %d operations", lock, len(history))
	}
	bad := history[broken]
	return fmt.Sprintf("%s: the first %d of %d operations, up to %+v answered %+v", lock, broken+1, len(history),
		bad.Input, bad.Output)
}

// pending returns a history at the moment of its n-th answer: those that were under way then are without one.
func pending(history []porcupine.Operation, n int) []porcupine.Operation {
	part := append([]porcupine.Operation{}, history[:n]...)
	for _, operation := range history[n:] {
		if operation.Call < history[n-1].Return {
			operation.Return, operation.Output = math.MaxInt64, answer{}
			part = append(part, operation)
		}
	}
	return part
}
