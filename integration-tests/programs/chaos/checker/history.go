package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// event is one line of a history. Times are nanoseconds of the machine's monotonic clock, the same in every process.
type event struct {
	Time     int64    `json:"t"`
	Kind     string   `json:"e"`
	Name     string   `json:"a"`
	Lock     string   `json:"lock"`
	Mode     string   `json:"mode"`
	Lease    string   `json:"lease"`
	Token    int64    `json:"token"`
	Kept     bool     `json:"kept"`
	Until    int64    `json:"until"`
	Value    int64    `json:"value"`
	OK       bool     `json:"ok"`
	Resumed  bool     `json:"resumed"`
	Reason   string   `json:"reason"`
	Process  string   `json:"process"`
	Phase    string   `json:"phase"`
	Number   int64    `json:"number"`
	Fault    string   `json:"kind"`
	Victims  []string `json:"victims"`
	What     string   `json:"what"`
	Before   int64    `json:"before"`
	After    int64    `json:"after"`
	Limit    int64    `json:"limit"`
	Millis   int64    `json:"millis"`
	Left     int64    `json:"left"`
	Session  string   `json:"session"`
	Leases   []string `json:"leases"`
	Seed     int64    `json:"seed"`
	Seconds  int64    `json:"seconds"`
	Plant    string   `json:"plant"`
	filename string
}

// load reads every history of a run, each file's events in their order. A last line that was cut off by a kill is left out.
func load(directory string) ([]event, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var all []event
	for _, file := range files {
		events, err := loadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no history in %s", directory)
	}
	return all, nil
}

func loadFile(file string) ([]event, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	var events []event
	lines := bufio.NewScanner(opened)
	lines.Buffer(make([]byte, 0, 64*1024), 16*1024*1024)
	broken := ""
	for lines.Scan() {
		if broken != "" {
			return nil, fmt.Errorf("%s: not an event: %s", file, broken)
		}
		e := event{filename: strings.TrimSuffix(filepath.Base(file), ".jsonl")}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			broken = lines.Text()
			continue
		}
		events = append(events, e)
	}
	return events, lines.Err()
}
