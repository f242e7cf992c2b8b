// Checks the histories of a run of chaos: the one argument is their directory. Ends with 0 if all promises were kept, 1 if
// not, 2 if there is nothing to check.
package main

import (
	"fmt"
	"os"
)

// shown is how many violations of one rule are printed.
const shown = 5

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: chaos-checker DIRECTORY")
		os.Exit(2)
	}
	events, err := load(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	r := assemble(events)
	operations, found := r.check()
	for _, line := range r.summary(operations) {
		fmt.Println(line)
	}
	for _, e := range r.events {
		if e.Kind == "run" {
			fmt.Printf("seed: %d (%d s, plant %q)\n", e.Seed, e.Seconds, e.Plant)
		}
	}
	printed := map[string]int{}
	for _, v := range found {
		if printed[v.rule]++; printed[v.rule] <= shown {
			fmt.Printf("VIOLATION: %s: %s\n", v.rule, v.what)
		}
	}
	for rule, count := range printed {
		fmt.Printf("violations: %s %d\n", rule, count)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
	fmt.Println("all promises kept")
}

// check applies every rule.
func (r *run) check() (registerOperations int, found []violation) {
	for _, rule := range []func() []violation{r.exclusion, r.tokens, r.order, r.answers, r.remains, r.losses, r.clocks} {
		found = append(found, rule()...)
	}
	registerOperations, unlinear := r.registers()
	return registerOperations, append(found, unlinear...)
}
