package tlsreload

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrNoDataLink is wrapped by the error about a directory that is not a volume although
// [Options.Static] is not set.
var ErrNoDataLink = errors.New("no ..data link")

const (
	dataLink = "..data"
	maxFile  = 1 << 20 // a Secret holds no more (corev1.MaxSecretSize)
)

// A volume knows where the files are, and reads them.
type volume struct {
	dir      string
	static   bool
	clientCA string // path of the client CA file; empty without
	inside   bool   // the client CA file is in dir, and so of the same generation

	parsePair func(*files) (*pair, error)
}

// files is what one reading found: the bytes of one generation.
type files struct {
	certPath, keyPath, clientCAPath string

	cert, key  []byte
	generation string
	modTime    time.Time

	clientCA    []byte
	clientCAErr error // kept apart: a bad client CA is no reason to refuse a good key pair
}

func newVolume(o *Options) *volume {
	v := &volume{
		dir:       o.Dir,
		static:    o.Static,
		clientCA:  o.ClientCAFile,
		inside:    o.ClientCAFile != "" && sameDir(filepath.Dir(o.ClientCAFile), o.Dir),
		parsePair: o.parsePair,
	}
	if v.parsePair == nil {
		v.parsePair = parsePair
	}
	return v
}

func sameDir(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// read takes all files from the generation that is current now.
func (v *volume) read() (files, error) {
	f := files{
		certPath:     filepath.Join(v.dir, CertFile),
		keyPath:      filepath.Join(v.dir, KeyFile),
		clientCAPath: v.clientCA,
	}
	gen, err := v.open()
	if err != nil {
		f.readClientCA(nil, v)
		return f, err
	}
	defer gen.close()

	var certTime, keyTime time.Time
	var certErr, keyErr error
	f.cert, certTime, certErr = readFile(gen.fsys, CertFile, f.certPath)
	f.key, keyTime, keyErr = readFile(gen.fsys, KeyFile, f.keyPath)
	f.generation, f.modTime = gen.name, gen.modTime
	if gen.name == "" {
		f.modTime = latest(certTime, keyTime)
	}
	f.readClientCA(gen.fsys, v)
	return f, errors.Join(certErr, keyErr)
}

// readClientCA reads the client CA from gen, the generation just opened or nil, if it lives there.
func (f *files) readClientCA(gen fs.FS, v *volume) {
	if v.clientCA == "" {
		return
	}
	fsys := gen
	if !v.inside {
		fsys = os.DirFS(filepath.Dir(v.clientCA))
	}
	if fsys == nil {
		return // the directory could not be opened, which is reported once, with the key pair
	}
	f.clientCA, _, f.clientCAErr = readFile(fsys, filepath.Base(v.clientCA), v.clientCA)
}

// A generation is the open directory that ..data names or, in static mode, the plain directory.
type generation struct {
	name    string // what ..data says; empty for a plain directory
	modTime time.Time
	fsys    fs.FS
	close   func()
}

func (v *volume) open() (generation, error) {
	link := filepath.Join(v.dir, dataLink)
	target, err := os.Readlink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return v.openPlain()
	}
	if err != nil {
		if info, statErr := os.Stat(v.dir); statErr == nil && !info.IsDir() {
			return generation{}, fmt.Errorf("tls directory: not a directory, set tls-dir to the folder with the files: %s", v.dir)
		}
		return generation{}, fmt.Errorf("tls directory: ..data is not a usable link: %w: %s", cause(err), v.dir)
	}
	path := target
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.dir, target)
	}
	// From here on the path is not looked up again: what is open stays one generation even when
	// ..data moves on.
	root, err := os.OpenRoot(path)
	if err != nil {
		return generation{}, fmt.Errorf("tls directory: what ..data names cannot be opened: %w: %s", cause(err), v.dir)
	}
	info, err := root.Stat(".")
	if err != nil {
		return generation{}, errors.Join(fmt.Errorf("tls directory: %w: %s", cause(err), v.dir), root.Close())
	}
	return generation{
		name:    target,
		modTime: info.ModTime(),
		fsys:    root.FS(),
		close:   func() { _ = root.Close() }, // opened to read only: nothing can be lost
	}, nil
}

func (v *volume) openPlain() (generation, error) {
	if _, err := os.Stat(v.dir); err != nil {
		remedy := ""
		if errors.Is(err, fs.ErrNotExist) {
			remedy = ", mount the Secret with the certificate there, or set tls-dir to where it is"
		}
		return generation{}, fmt.Errorf("tls directory: %w%s: %s", cause(err), remedy, v.dir)
	}
	if !v.static {
		return generation{}, fmt.Errorf("tls directory has %w, so a renewed certificate would never be seen: "+
			"mount the whole Secret as a directory (a subPath mount never updates), "+
			"or set tls-static for a folder of plain files: %s", ErrNoDataLink, v.dir)
	}
	// os.DirFS, not os.Root: the files of a plain folder may be links that lead elsewhere.
	return generation{fsys: os.DirFS(v.dir), close: func() {}}, nil
}

func readFile(fsys fs.FS, name, path string) ([]byte, time.Time, error) {
	fail := func(err error) ([]byte, time.Time, error) {
		err = cause(err)
		switch {
		case errors.Is(err, fs.ErrPermission):
			err = fmt.Errorf("%w; set the pod's fsGroup or the volume's defaultMode", err)
		case errors.Is(err, fs.ErrNotExist) && (name == CertFile || name == KeyFile):
			err = fmt.Errorf("%w; add it to the Secret, or set tls-dir to where it is", err)
		case errors.Is(err, fs.ErrNotExist):
			err = fmt.Errorf("%w; add it to the Secret, or set client-ca-file to where it is", err)
		}
		return nil, time.Time{}, fmt.Errorf("read file: %w: %s", err, path)
	}
	// Opening a FIFO would block, so the type is looked at first.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() {
		return fail(errors.New("not a regular file"))
	}
	file, err := fsys.Open(name)
	if err != nil {
		return fail(err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	_ = file.Close() // opened to read only: nothing can be lost
	if err != nil {
		return fail(err)
	}
	if len(data) > maxFile {
		return fail(errors.New("larger than 1 MiB"))
	}
	return data, info.ModTime(), nil
}

// cause strips the operation and path that package os puts before an error: the text of an error
// must not change with the name of a generation, or each one would be reported anew.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
