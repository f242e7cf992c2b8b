package lockkeeper

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

var tokenPattern = regexp.MustCompile(`^[\x21-\x7e]+$`)

// errTokenRefused says that a token may not be sent to a server, or is none.
var errTokenRefused = errors.New("the token cannot be sent")

// ClientOption says more of a client.
type ClientOption func(*config)

type config struct {
	ttl            time.Duration
	holder         string
	requestTimeout time.Duration
	tls            bool
	ca             string
	certificate    string
	key            string
	token          func(ctx context.Context) (string, error)
	observer       Observer
	log            *slog.Logger
	first          int           // at which server to begin; negative: at any
	lastTurns      time.Duration // for those who waited in the client when a kept lock was wanted back
}

// TTL is how long the lease lives without a keep-alive, 2 s to 1 hour. Without it: as the server says, commonly 15 s.
func TTL(timeToLive time.Duration) ClientOption { return func(c *config) { c.ttl = timeToLive } }

// ClientHolder says who the client is, human-readable, up to 256 bytes. Without it the server shows its address.
func ClientHolder(who string) ClientOption { return func(c *config) { c.holder = who } }

// RequestTimeout is how long a server may take to be reached and to answer, above zero; 15 s without it. It limits no wait in a queue, and no
// watch, which tries servers for as long as its context lets it.
func RequestTimeout(limit time.Duration) ClientOption {
	return func(c *config) { c.requestTimeout = limit }
}

// TLS encrypts, and trusts the authorities in a PEM file; of an empty name, those of the system. The file is read again for each connection.
func TLS(ca string) ClientOption { return func(c *config) { c.tls, c.ca = true, ca } }

// MutualTLS encrypts, and shows a certificate, too. Files are PEM, and read again for each connection.
func MutualTLS(ca, certificate, key string) ClientOption {
	return func(c *config) { c.tls, c.ca, c.certificate, c.key = true, ca, certificate, key }
}

// BearerToken sends a token with every stream and call. It is asked for each time, and goes out over TLS only, or to this machine. If the
// function fails, that counts as a server that cannot be reached.
func BearerToken(token func(ctx context.Context) (string, error)) ClientOption {
	return func(c *config) { c.token = token }
}

// Observe tells what the client does, for metrics and traces.
func Observe(observer Observer) ClientOption { return func(c *config) { c.observer = observer } }

// Log writes what goes wrong in the background to a logger; without it, to [slog.Default].
func Log(logger *slog.Logger) ClientOption { return func(c *config) { c.log = logger } }

// FirstServer has the client begin with the first server of its list. Without it clients begin at any, so that they spread.
func FirstServer() ClientOption { return func(c *config) { c.first = 0 } }

func newConfig(options []ClientOption) (*config, error) {
	c := &config{requestTimeout: 15 * time.Second, observer: NoObserver{}, log: slog.Default(), first: -1, lastTurns: time.Second}
	for _, option := range options {
		if option != nil {
			option(c)
		}
	}
	c.observer = guard{c.observer, c.log}
	if c.ttl != 0 {
		if err := checkWithin("ttl", c.ttl, 2*time.Second, time.Hour); err != nil {
			return nil, err
		}
	}
	if c.requestTimeout <= 0 {
		return nil, fmt.Errorf("lockkeeper: request timeout must be above zero, not %s", c.requestTimeout)
	}
	if c.tls && (c.certificate == "") != (c.key == "") {
		return nil, errors.New("lockkeeper: certificate and key must be given together")
	}
	return c, checkLabel("holder", c.holder)
}

// connect opens a connection of its own; certificates are read anew.
func (c *config) connect(to server, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	secured := insecure.NewCredentials()
	if c.tls {
		settings := &tls.Config{MinVersion: tls.VersionTLS12} // the name that is checked is the authority's
		if c.ca != "" {
			pem, err := os.ReadFile(c.ca)
			if err != nil {
				return nil, err
			}
			settings.RootCAs = x509.NewCertPool()
			if !settings.RootCAs.AppendCertsFromPEM(pem) {
				return nil, fmt.Errorf("%s has no certificate", c.ca)
			}
		}
		if c.certificate != "" {
			pair, err := tls.LoadX509KeyPair(c.certificate, c.key)
			if err != nil {
				return nil, err
			}
			settings.Certificates = []tls.Certificate{pair}
		}
		secured = credentials.NewTLS(settings)
	}
	options = append(options, grpc.WithTransportCredentials(secured), grpc.WithAuthority(to.authority()),
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithNoProxy())
	return grpc.NewClient("passthrough:///"+to.dial(), options...)
}

// authorized adds what says who the client is to a call's context.
func (c *config) authorized(ctx context.Context, to server, patience time.Duration) (context.Context, error) {
	if c.token == nil {
		return ctx, nil
	}
	if !c.tls && !to.isLoopback() {
		return nil, fmt.Errorf("%w in plaintext to another machine: use TLS", errTokenRefused)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	token, err := c.tokenWithin(limited)
	if err != nil {
		return nil, fmt.Errorf("there is no token at the moment: %w", err)
	}
	if !tokenPattern.MatchString(token) {
		return nil, fmt.Errorf("%w: it is empty, or has other characters than printable ASCII without blanks", errTokenRefused)
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), nil
}

// tokenWithin asks for a token, and does not wait for a function that looks at no context.
func (c *config) tokenWithin(ctx context.Context) (string, error) {
	type answer struct {
		token string
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		token, err := c.token(ctx)
		answers <- answer{token, err}
	}()
	select {
	case a := <-answers:
		return a.token, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
