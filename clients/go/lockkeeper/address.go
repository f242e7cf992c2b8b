package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	defaultPort   = 7420
	lookupTimeout = 3 * time.Second
)

var addressPattern = regexp.MustCompile(`^(?:\[([^\]]+)\]|([^:\[\]/\s]+))(?::(\d+))?$`)

// target is a server as it was named.
type target struct {
	host string
	port int
}

func (t target) authority() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

func (t target) isLoopback() bool {
	address, err := netip.ParseAddr(t.host)
	return t.host == "localhost" || err == nil && address.IsLoopback()
}

// server is one address of a target.
type server struct {
	target
	address string
}

func (s server) dial() string { return net.JoinHostPort(s.address, strconv.Itoa(s.port)) }

func (s server) isLoopback() bool {
	address, err := netip.ParseAddr(s.address)
	return s.target.isLoopback() && err == nil && address.IsLoopback()
}

func parseServers(text string) ([]target, error) {
	var targets []target
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "dns:///")
		match := addressPattern.FindStringSubmatch(part)
		if match == nil {
			return nil, fmt.Errorf("lockkeeper: servers: %.80q is not host, host:port or [IPv6]:port", part)
		}
		port := defaultPort
		if match[3] != "" {
			given, err := strconv.Atoi(match[3])
			if err != nil || given < 1 || given > 65535 {
				return nil, fmt.Errorf("lockkeeper: servers: the port of %.80q must be 1 to 65535", part)
			}
			port = given
		}
		targets = append(targets, target{host: match[1] + match[2], port: port})
	}
	return targets, nil
}

// servers gives all servers in turn: each address of a name is one. Names are looked up anew when their turn comes.
type servers struct {
	mu      sync.Mutex
	targets []target
	turn    int
	round   []server
}

func newServers(targets []target, first int) *servers {
	return &servers{targets: targets, turn: first}
}

// next returns the server to try next; a name that cannot be looked up is passed over.
func (s *servers) next(ctx context.Context) (server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []error
	for range len(s.targets) + 1 {
		if len(s.round) > 0 {
			first := s.round[0]
			s.round = s.round[1:]
			return first, nil
		}
		target := s.targets[s.turn%len(s.targets)]
		s.turn++
		limited, cancel := context.WithTimeout(ctx, lookupTimeout)
		addresses, err := net.DefaultResolver.LookupHost(limited, target.host)
		cancel()
		if err != nil {
			failures = append(failures, err)
		}
		for _, address := range addresses {
			s.round = append(s.round, server{target, address})
		}
	}
	return server{}, errors.Join(failures...)
}
