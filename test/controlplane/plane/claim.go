package plane

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// claimed is an address of serviceRange that no Service gets. Who listens there has the range.
const claimed = "127.1.2.255:9443"

// claim waits until no other control plane of this machine gives its Services the same addresses,
// and has the range until the test ends, however it ends.
func claim(t *testing.T) {
	t.Helper()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for told := false; ; told = true {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", claimed)
		if err == nil {
			t.Cleanup(func() { listener.Close() })
			return
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
		if !told {
			fmt.Fprintln(os.Stderr, "another control plane runs on this machine: waiting until it ends")
		}
		<-ticker.C
	}
}
