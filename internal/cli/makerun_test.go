package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// makeRun is `make run` of the repository with this test's program, as a process group of its own.
func makeRun(t *testing.T, flags string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	program, err := exec.LookPath("released") // of testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Makefile", "examples"} {
		from, err := filepath.Abs("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	writeExample(t, filepath.Join(dir, "bin", "webhookd"), "exec "+program+` "$@"`+"\n")
	if err := os.Chmod(filepath.Join(dir, "bin", "webhookd"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "-o", "build", "run", "RUNFLAGS="+flags) //nolint:gosec // flags of the tests below
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// make run serves the rules of the README, its curl line has the answer that it prints, in which
// one sees what each rule does, and Ctrl-C ends it without an error.
func TestMakeRunShowsAConversion(t *testing.T) {
	t.Parallel()
	if !strings.Contains(read(t, "../../README.md"), "```yaml\n"+read(t, "../../examples/quickstart/rules.yaml")+"```\n") {
		t.Error("README.md does not show examples/quickstart/rules.yaml")
	}
	log := &logBuffer{changed: make(chan struct{})}
	cmd := makeRun(t, "--listen=127.0.0.1:0 --admin-listen=127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	caFile, url, review, answer := printedReview(t, log)
	for _, field := range []string{`"cronSpec":`, `"hostPort":`, `"mailTo":`} {
		if !strings.Contains(review, field) || strings.Contains(answer, field) {
			t.Errorf("%s does not move from the review to another place in the answer", field)
		}
	}
	for _, field := range []string{`"schedule":`, `"host":`, `"port":`, `"conversion.webhookd.io/v1beta1.spec.mailTo":`} {
		if !strings.Contains(answer, field) {
			t.Errorf("the answer has no %s", field)
		}
	}
	comparePage(t, caFile, url)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil { // as a terminal does
		t.Fatal(err)
	}
	_ = cmd.Wait() // make ends with the signal
	if end := log.text.String(); !strings.HasSuffix(end, `"msg":"stopped"}`+"\n") {
		t.Errorf("Ctrl-C leaves something behind the last line of the server:\n%s", end)
	}
}

// printedReview posts the review that a server prints, and holds its answer to the printed one.
func printedReview(t *testing.T, log *logBuffer) (caFile, url, review, answer string) {
	t.Helper()
	said := log.wait(t, `^curl --cacert (\S+) --data '(.*)' -H 'Content-Type: application/json' (\S+)\nwebhookd: the answer is (.*)$`)
	caFile, review, url, answer = said[1], said[2], said[3], said[4]
	if diff := cmp.Diff(answer+"\n", postTrusting(t, caFile, url, review)); diff != "" {
		t.Errorf("not the printed answer (-printed +got):\n%s", diff)
	}
	return caFile, url, review, answer
}

// serveTutorial runs the last command of the first tutorial in its folder.
func serveTutorial(t *testing.T, page string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^ {4}webhookd (serve .*)$`).FindStringSubmatch(read(t, page))
	if line == nil {
		t.Fatalf("%s does not serve", page)
	}
	log := &logBuffer{changed: make(chan struct{})}
	cmd := exec.CommandContext(t.Context(), "webhookd", append(strings.Fields(line[1]), "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0")...) //nolint:gosec // of our page
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, _, review, _ := printedReview(t, log); !strings.Contains(review, `"timeout":"90s"`) {
		t.Errorf("not the case of the tutorial: %s", review)
	}
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// comparePage runs the first command of the page about compare with what make run has printed.
func comparePage(t *testing.T, caFile, url string) {
	t.Helper()
	page := read(t, "../../docs/how-to/compare-with-your-webhook.md")
	line := regexp.MustCompile(`(?m)^ {4}bin/(webhookd compare --server )https://127.0.0.1:9443/crdconvert( --ca-file )FILE(.*)$`).FindStringSubmatch(page)
	if line == nil {
		t.Fatal("the page does not begin with a command for make run")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line[1]+url+line[2]+caFile+line[3]) //nolint:gosec // of our page
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), " checks pass, 0 fail") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func postTrusting(t *testing.T, caFile, url, body string) string {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(read(t, caFile)))
	client := &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMakeRunNamesAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	if got, want := runWith(t, nil, nil, "playground", "--listen", address), "webhookd: "+address+": bind: address already in use: choose another address with --listen\n"; got.Code != 1 || got.Stderr != want {
		t.Errorf("playground: %+v", got)
	}
	out, err := makeRun(t, "--admin-listen=127.0.0.1:0 --listen="+address).CombinedOutput()
	want := "\nwebhookd: " + address + ": bind: address already in use: choose another address with --listen=HOST:PORT\n" +
		"make run: flags go into RUNFLAGS: make run RUNFLAGS='--listen=127.0.0.1:9444 "
	if err == nil || !strings.Contains("\n"+string(out), want) {
		t.Errorf("%v, %s, want %s", err, out, want)
	}
}
