// Package measure runs servers as processes of their own on one processor, and loads them over TLS
// and HTTP/1.1 keep-alive from this process on another.
//
// Absolute figures move with the machine; what counts are ratios of two servers in the same round.
package measure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A Rig starts servers with one TLS pair.
type Rig struct {
	dir    string
	ca     *x509.CertPool
	pinned bool
}

// NewRig writes a pair into a folder, and pins this process to the client's processor, if there are
// two.
func NewRig(dir string) (*Rig, error) {
	ca, err := writePair(dir)
	if err != nil {
		return nil, err
	}
	r := &Rig{dir: dir, ca: ca}
	if err := r.pin(); err != nil {
		log.Printf("not pinned to processors: %v", err)
	}
	return r, nil
}

// A Program is a server to build: a package of a module.
type Program struct{ Name, Module, Package string }

// Build compiles servers into a folder as they are released: no race detector, no debugging. It is
// run in bench/.
func Build(ctx context.Context, dir string, programs ...Program) error {
	for _, p := range programs {
		log.Printf("building %s", p.Package)
		cmd := command(ctx, "go", "build", "-trimpath", "-o", filepath.Join(dir, p.Name), p.Package)
		cmd.Dir = p.Module
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building %s: %w", p.Package, err)
		}
	}
	return nil
}

// A Server is what to start. It takes --listen and --tls-dir.
type Server struct {
	Name, Path string
	Args       []string
	Admin      bool // it takes --admin-listen
}

// A Process is a running server.
type Process struct {
	Address, Admin string

	cmd *exec.Cmd
	log *os.File
}

// Start starts a server on the server's processor.
func (r *Rig) Start(ctx context.Context, s Server) (*Process, error) {
	p := &Process{}
	var err error
	if p.Address, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	args := append(slices.Clone(s.Args), "--listen="+p.Address, "--tls-dir="+r.dir)
	if s.Admin {
		if p.Admin, err = freeAddress(ctx); err != nil {
			return nil, err
		}
		args = append(args, "--admin-listen="+p.Admin)
	}
	// Not in the folder of the pair, which webhookd watches: it would read the pair again whenever
	// it logs.
	if p.log, err = os.CreateTemp("", "bench-"+s.Name+".log"); err != nil {
		return nil, err
	}
	p.cmd = exec.CommandContext(ctx, s.Path, args...) //nolint:gosec // a server that Build has made
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := r.onServerCPU(p.cmd.Start); err != nil {
		return nil, err
	}
	return p, nil
}

// Stop ends a server.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	_ = p.cmd.Wait()
	_ = p.log.Close()
	_ = os.Remove(p.log.Name())
}

// CPU returns the time that all threads of a server have run, in user and system mode.
func (p *Process) CPU() (time.Duration, error) { return cpuTime(p.cmd.Process.Pid) }

// Memory returns the most memory that a server had resident, and how much of what it has now is its
// own: all but the pages of files, such as its program, which the system can drop. Both are in
// bytes.
func (p *Process) Memory() (peak, own int64, err error) { return memory(p.cmd.Process.Pid) }

// freeAddress returns an address that no one listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Client returns a client that keeps a number of connections. With 0, it makes one for each
// request.
func (r *Rig) Client(connections int) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: r.ca, ServerName: "localhost", MinVersion: tls.VersionTLS12},
		Protocols:       protocols, MaxIdleConnsPerHost: connections, DisableKeepAlives: connections == 0,
	}}
}
