package lockkeeper_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
)

var address = regexp.MustCompile(`localhost:(\d+) lockkeeper\.v1`)

// coordinator is a real one: the program's jar, with an embedded ZooKeeper.
type coordinator struct {
	address string
	process *exec.Cmd
	data    string
}

var shared struct {
	sync.Once
	*coordinator
	err error
}

// realServer returns the address of a real coordinator that all tests share; skips the test if none can be started.
func realServer(t *testing.T) string {
	t.Helper()
	shared.Do(func() { shared.coordinator, shared.err = startCoordinator() })
	if shared.err != nil {
		t.Skipf("SKIPPED: no real coordinator: %v", shared.err)
	}
	return shared.address
}

func jar() string {
	if named := os.Getenv("LOCKKEEPER_JAR"); named != "" {
		return named
	}
	path, err := filepath.Abs("../../../cli/target/lockkeeper.jar")
	if err != nil {
		panic(err)
	}
	return path
}

func startCoordinator(flags ...string) (*coordinator, error) {
	if _, err := os.Stat(jar()); err != nil {
		return nil, fmt.Errorf("%w: run make build", err)
	}
	data, err := os.MkdirTemp("", "lockkeeper-test-")
	if err != nil {
		return nil, err
	}
	arguments := append([]string{
		"-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", jar(), "dev", "--listen=127.0.0.1:0", "--http=127.0.0.1:0", "--zookeeper-port=0",
		"--data-dir=" + data,
	}, flags...)
	process := exec.Command("java", arguments...)
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	process.Stderr = process.Stdout
	if err := process.Start(); err != nil {
		return nil, err
	}
	said := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if match := address.FindStringSubmatch(lines.Text()); match != nil {
			go func() {
				for lines.Scan() { // so that it can go on writing
				}
			}()
			return &coordinator{"127.0.0.1:" + match[1], process, data}, nil
		}
	}
	return nil, fmt.Errorf("no coordinator: %s", said)
}

func (c *coordinator) close() {
	_ = c.process.Process.Kill()
	_ = c.process.Wait()
	_ = os.RemoveAll(c.data)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.coordinator != nil {
		shared.close()
	}
	os.Exit(code)
}
