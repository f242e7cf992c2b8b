package lockkeeper_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

const bearer = "a-token-that-only-the-tests-know-0123456789"

// authority signs certificates into a directory.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T, directory, name string) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	a := &authority{must[*x509.Certificate](t)(x509.ParseCertificate(der)), key, filepath.Join(directory, name+".pem")}
	write(t, a.file, "CERTIFICATE", der)
	return a
}

// sign returns the files of a certificate and its key.
func (a *authority) sign(t *testing.T, directory, name string, template *x509.Certificate) (string, string) {
	t.Helper()
	template.SerialNumber, template.Subject = big.NewInt(2), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key))
	private := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(key))
	chain, secret := filepath.Join(directory, name+".pem"), filepath.Join(directory, name+".key")
	write(t, chain, "CERTIFICATE", der)
	write(t, secret, "PRIVATE KEY", private)
	return chain, secret
}

func write(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestServerWithTLSKnowsCertificatesAndTokens(t *testing.T) {
	if _, err := os.Stat(jar()); err != nil {
		t.Skipf("SKIPPED: no real coordinator: %v", err)
	}
	directory := t.TempDir()
	servers, clients := newAuthority(t, directory, "servers"), newAuthority(t, directory, "clients")
	chain, key := servers.sign(t, directory, "server", &x509.Certificate{
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	own, ownKey := clients.sign(t, directory, "client", &x509.Certificate{
		URIs: []*url.URL{{Scheme: "spiffe", Host: "test", Path: "/client"}},
	})
	tokens := filepath.Join(directory, "tokens.yaml")
	text := fmt.Sprintf("tokens:\n  - {name: tester, sha256: %x}\n", sha256.Sum256([]byte(bearer)))
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := startCoordinator("--tls-cert="+chain, "--tls-key="+key, "--tls-client-ca="+clients.file, "--tokens="+tokens)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.close)
	withToken := lockkeeper.BearerToken(func(context.Context) (string, error) { return bearer, nil })
	for name, options := range map[string][]lockkeeper.ClientOption{
		"a certificate": {lockkeeper.MutualTLS(servers.file, own, ownKey)},
		"a token":       {lockkeeper.TLS(servers.file), withToken},
	} {
		t.Run(name+" is let in", func(t *testing.T) {
			client := newClient(t, server.address, options...)
			ctx := limited(t)
			unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, lockOf(t))))
		})
	}
	t.Run("a wrong token is refused", func(t *testing.T) {
		wrong := lockkeeper.BearerToken(func(context.Context) (string, error) { return "another-token-that-nobody-knows", nil })
		_, err := newClient(t, server.address, lockkeeper.TLS(servers.file), wrong).Lock(limited(t), lockOf(t))
		var refused *lockkeeper.RefusedError
		if !errors.As(err, &refused) || refused.Reason != "UNAUTHENTICATED" {
			t.Errorf("said %v", err)
		}
	})
	t.Run("a server of an unknown authority is none", func(t *testing.T) {
		client := newClient(t, server.address, lockkeeper.TLS(clients.file), withToken, lockkeeper.RequestTimeout(time.Second))
		_, err := client.Lock(limited(t), lockOf(t))
		var unavailable *lockkeeper.UnavailableError
		if !errors.As(err, &unavailable) {
			t.Errorf("said %v", err)
		}
	})
}

func TestTokenGoesToNoOtherMachineInPlaintext(t *testing.T) {
	withToken := lockkeeper.BearerToken(func(context.Context) (string, error) { return bearer, nil })
	_, err := newClient(t, "192.0.2.1", withToken).Lock(limited(t), lockOf(t))
	var refused *lockkeeper.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "UNAUTHENTICATED" {
		t.Errorf("said %v", err)
	}
}

func TestTokenFunctionThatFailsIsAskedAgain(t *testing.T) {
	asked := 0
	sometimes := lockkeeper.BearerToken(func(context.Context) (string, error) {
		asked++
		if asked == 1 {
			return "", errors.New("the provider is away")
		}
		return bearer, nil
	})
	client := newClient(t, lockkeepertest.NewServer(t).Address(), sometimes)
	ctx := limited(t)
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, lockOf(t))))
}
