package lockkeeper_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
)

const heldBy = "LOCKKEEPER_TEST_HOLD" // address and name of what the process is to hold until it is killed

func TestKilledProcessLeavesNoLockBeyondItsTTL(t *testing.T) {
	if order := os.Getenv(heldBy); order != "" {
		holdForEver(t, order)
	}
	address, name := realServer(t), lockOf(t)
	process := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	process.Env = append(os.Environ(), heldBy+"="+address+" "+name)
	out := must[io.ReadCloser](t)(process.StdoutPipe())
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = process.Process.Kill()
	_ = process.Wait()
	if err != nil || line != "held\n" {
		t.Fatalf("said %q, %v", line, err)
	}
	client, ctx := newClient(t, address), limited(t)
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name)))
}

func holdForEver(t *testing.T, order string) {
	address, name, _ := strings.Cut(order, " ")
	client := must[*lockkeeper.Client](t)(lockkeeper.New(address, lockkeeper.TTL(2*time.Second)))
	must[*lockkeeper.Lock](t)(client.Lock(context.Background(), name))
	fmt.Println("held")
	select {}
}
